// SPDX-License-Identifier: Apache-2.0
#include "io/text/bad_lines.h"

#include <utility>

namespace xshards::io {
namespace {

constexpr char kKey[] = "on_bad_lines";
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

void SetBadLines(BadLines bad_lines, OptionMap* map) {
  if (bad_lines == BadLines::kError) return;
  for (const auto& [name, value] : kNames) {
    if (value == bad_lines) (*map)[kKey] = name;
  }
}

arrow::Result<BadLines> GetBadLines(const OptionMap& map) {
  const auto name = GetString(map, kKey);
  return name.has_value() ? BadLinesFromName(*name) : BadLines::kError;
}

}  // namespace xshards::io
