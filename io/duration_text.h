// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/type.h>

#include "io/time_precision.h"

namespace xshards::io {

/// Append a duration as pandas prints one: "1 days 02:03:04.500000", and less than none
/// as "-1 days +23:59:59".
void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out);
/// Append it as one of a column that has this precision, which it does not exceed: 6
/// digits of a second for kMilli and kMicro, 9 for kNano, "1 days" for kDay.
void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, TimePrecision precision,
                    std::string* out);
/// Append a duration as ISO 8601 writes it: "P1DT2H3M4.500S".
void AppendIsoDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out);

}  // namespace xshards::io
