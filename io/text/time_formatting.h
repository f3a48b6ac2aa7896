// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/type.h>

#include "io/text/time_precision.h"

namespace xshards::io {

// Times and durations as pandas writes them. All 64-bit values can be written: years have
// four digits or more ("0012", "40000"), and a sign before the common era ("-001").

/// Append a time with the precision of its column, which it does not exceed: "2013-01-31"
/// for kDay, "2013-01-31 05:30:00.500" for kMilli.
void AppendTime(int64_t ticks, arrow::TimeUnit::type unit, TimePrecision precision,
                std::string* out);
/// Append a UTC time in a zone that is `offset` seconds ahead of UTC: "2013-01-31
/// 05:30:00+01:00", "1880-01-01 00:09:21+00:09:21".
void AppendZonedTime(int64_t ticks, arrow::TimeUnit::type unit, TimePrecision precision,
                     int32_t offset, std::string* out);
/// Append a day, counted from 1970-01-01.
void AppendDay(int64_t day, std::string* out);

/// Append a duration as pandas prints one: "1 days 02:03:04.500000", and a negative one
/// as "-1 days +23:59:59".
void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out);
/// Append it with the precision of its column, which it does not exceed: 6 digits of a
/// second for kMilli and kMicro, 9 for kNano, "1 days" for kDay.
void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, TimePrecision precision,
                    std::string* out);
/// Append a duration as ISO 8601 writes it: "P1DT2H3M4.500S".
void AppendIsoDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out);

}  // namespace xshards::io
