// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards::io {

/// What to do with a malformed line: fail, skip it and count it in the metrics of the
/// run, or just skip it.
enum class BadLines : uint8_t { kError, kWarn, kSkip };

/// The names that options have for these: "error", "warn" and "skip".
XSHARDS_EXPORT arrow::Result<BadLines> BadLinesFromName(const std::string& name);

constexpr BadLines LastValue(BadLines) { return BadLines::kSkip; }

}  // namespace xshards::io
