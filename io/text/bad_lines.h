// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/result.h>

#include "io/options/option_map.h"
#include "xshards/export.h"

namespace xshards::io {

/// What to do with a line that is no record: fail, leave it out and count it in the
/// metrics of the run, or just leave it out.
enum class BadLines : uint8_t { kError, kWarn, kSkip };

/// The names that options have for these: "error", "warn" and "skip".
XSHARDS_EXPORT arrow::Result<BadLines> BadLinesFromName(const std::string& name);

/// The same as an option that travels; nothing there is kError.
void SetBadLines(BadLines bad_lines, OptionMap* map);
arrow::Result<BadLines> GetBadLines(const OptionMap& map);

}  // namespace xshards::io
