// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/array.h>
#include <arrow/type.h>

namespace xshards::io {

/// How much of its times a column shows, ascending: pandas writes all values that it
/// looks at together with the digits that one of them needs.
enum class TimePrecision : uint8_t { kDay, kSecond, kMilli, kMicro, kNano };

/// Whether it is a type of times, or of durations, that may be parts of a day.
bool HasPrecision(const arrow::DataType& type);

int64_t TicksPerSecond(arrow::TimeUnit::type unit);
/// All that times of a unit can have.
TimePrecision FinestOf(arrow::TimeUnit::type unit);

/// What the values of such a column need; a time of a zone is never a mere day.
TimePrecision PrecisionOf(const arrow::Array& times);

}  // namespace xshards::io
