// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/compute/exec.h>
#include <arrow/result.h>

namespace xshards::io {

/// How much of its times a column shows, ascending: pandas writes all values that it
/// looks at together with the digits that one of them needs.
enum class TimePrecision : uint8_t { kDay, kSecond, kMilli, kMicro, kNano };

/// Whether it is a type of times, or of durations, that may be parts of a day.
bool HasPrecision(const arrow::DataType& type);

/// What the values of such a column need.
TimePrecision PrecisionOf(const arrow::Array& times);

/// The column as text, as pandas.to_csv writes it with this precision: "2013-01-31",
/// "2013-01-31 05:30:00.500", "2013-01-31 05:30:00+01:00", "1 days 02:03:04.500000".
arrow::Result<std::shared_ptr<arrow::Array>> TimesAsText(
    const std::shared_ptr<arrow::Array>& times, TimePrecision precision,
    arrow::compute::ExecContext* context);

}  // namespace xshards::io
