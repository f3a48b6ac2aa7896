// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/type.h>

#include "io/file_writer.h"

namespace xshards::io {

/// Append a duration as pandas prints one: "1 days 02:03:04.500000", and less than none
/// as "-1 days +23:59:59".
void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out);
/// Append a duration as ISO 8601 writes it: "P1DT2H3M4.500S".
void AppendIsoDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out);

/// Open writers that get columns of durations as such text, the first kind.
OpenWriter WithDurationsAsText(OpenWriter open);

}  // namespace xshards::io
