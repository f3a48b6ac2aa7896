// SPDX-License-Identifier: Apache-2.0
#include "io/text/bad_lines.h"

#include <utility>

namespace xshards::io {
namespace {

constexpr std::pair<const char*, BadLines> kNames[] = {
    {"error", BadLines::kError}, {"warn", BadLines::kWarn}, {"skip", BadLines::kSkip}};

}  // namespace

arrow::Result<BadLines> BadLinesFromName(const std::string& name) {
  for (const auto& [known, value] : kNames) {
    if (name == known) return value;
  }
  return arrow::Status::Invalid("on_bad_lines must be 'error', 'warn' or 'skip', got '",
                                name, "'");
}

}  // namespace xshards::io
