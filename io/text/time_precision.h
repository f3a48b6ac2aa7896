// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/array.h>
#include <arrow/type.h>

namespace xshards::io {

/// The precision with which a column of times is written, ascending: pandas writes all
/// values of a column with the digits that any of them needs.
enum class TimePrecision : uint8_t { kDay, kSecond, kMilli, kMicro, kNano };

/// Whether a type has times or durations finer than a day.
bool HasPrecision(const arrow::DataType& type);

int64_t TicksPerSecond(arrow::TimeUnit::type unit);
/// The finest precision of times of a unit.
TimePrecision FinestOf(arrow::TimeUnit::type unit);

/// The precision that the values of a column need; a time with a zone is never written as
/// a date only.
TimePrecision PrecisionOf(const arrow::Array& times);

}  // namespace xshards::io
