// SPDX-License-Identifier: Apache-2.0
#include "io/csv/scan_options.h"

namespace xshards::io {

void CsvScanOptions::AddColumns(const std::string& path,
                                const std::vector<std::string>& names) {
  if (columns.empty()) columns = names;
  if (columns != names) own_columns[path] = names;
}

void CsvScanOptions::AddLines(const std::string& path, int64_t begin, int64_t first_line,
                              std::span<const int64_t> skipped) {
  CsvSplitLines& added = lines[{path, begin}];
  added.first_line = first_line;
  for (const int64_t line : skipped) {
    auto& runs = added.skipped;
    if (!runs.empty() && runs.back().second == line - 1) {
      runs.back().second = line;
    } else {
      runs.emplace_back(line, line);
    }
  }
}

const std::vector<std::string>& CsvScanOptions::ColumnsOf(const std::string& path) const {
  const auto own = own_columns.find(path);
  return own == own_columns.end() ? columns : own->second;
}

CsvOptions CsvScanOptions::OptionsFor(const Split& split) const {
  CsvOptions options = csv;
  const auto found = lines.find({split.path, split.begin});
  if (found == lines.end()) return options;
  for (const auto& [first, last] : found->second.skipped) {
    // Not up to `last + 1`, which may be no number.
    for (int64_t line = first; line < last; ++line) options.skip_lines.push_back(line);
    options.skip_lines.push_back(last);
  }
  return options;
}

std::optional<int64_t> CsvScanOptions::FirstLineOf(const Split& split) const {
  const auto found = lines.find({split.path, split.begin});
  if (found == lines.end()) return std::nullopt;
  return found->second.first_line;
}

arrow::Status CsvCutOptions::Validate() const {
  if (target_bytes >= 1) return arrow::Status::OK();
  return arrow::Status::Invalid("target_bytes must be 1 or more, got ", target_bytes);
}

}  // namespace xshards::io
