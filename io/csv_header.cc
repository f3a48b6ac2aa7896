// SPDX-License-Identifier: Apache-2.0
#include "io/csv_header.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "io/csv_dialect.h"
#include "io/csv_rows.h"
#include "io/csv_values.h"
#include "io/file_system.h"
#include "io/text_input.h"

namespace xshards::io {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct FirstRow {
  std::vector<std::string> values;  // empty: there is no row
  int64_t begin = 0;
  int64_t end = 0;
  int64_t next_fields = 0;  // of the row that follows; 0: there is none
};

// Where the text goes on behind a number of lines; npos where it has fewer.
size_t SkipLines(std::string_view text, int64_t count) {
  size_t at = 0;
  for (; count > 0; --count) {
    at = text.find_first_of("\r\n", at);
    if (at == std::string_view::npos) return at;
    at += text.substr(at).starts_with("\r\n") ? 2 : 1;
  }
  return at;
}

// Read the first row of the text, or nothing where the block is too short for it and the
// row behind it.
std::optional<FirstRow> ParseFirstRow(const TextBlocks::Block& block,
                                      const CsvOptions& options) {
  const std::string_view text = block.text();
  size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const size_t skipped = SkipLines(text.substr(begin), options.skiprows);
  if (skipped == std::string_view::npos) {
    if (!block.is_last) return std::nullopt;
    return FirstRow{};
  }
  begin += skipped;
  CsvRows rows(options);
  rows.Find(block.mutable_text() + begin, static_cast<int64_t>(text.size() - begin),
            block.is_last, /*num_columns=*/0);
  if (!block.is_last && rows.num_rows() < 2) return std::nullopt;
  if (rows.num_rows() == 0) return FirstRow{};
  FirstRow row;
  const CsvValues values(options);
  const int64_t num_fields = rows.NumFields(0);
  for (int64_t column = 0; column < num_fields; ++column) {
    std::string scratch;
    const auto field = rows.Field(0, column);
    row.values.emplace_back(values.IsEscaped(field) ? values.Unescape(field, &scratch)
                                                    : field);
  }
  const auto position = [&](const char* at) {
    return std::min(static_cast<int64_t>(at - block.mutable_text()),
                    static_cast<int64_t>(text.size()));
  };
  row.begin = position(rows.Field(0, 0).data());
  const auto last = rows.Field(0, num_fields - 1);
  row.end = position(last.data() + last.size() + 1);
  if (rows.num_rows() > 1) row.next_fields = rows.NumFields(1);
  return row;
}

arrow::Result<FirstRow> ReadFirstRow(const std::string& path, int64_t file_size,
                                     const CsvOptions& options, arrow::MemoryPool* pool) {
  constexpr int64_t kBlockBytes = 64LL << 10;
  ARROW_ASSIGN_OR_RAISE(auto input,
                        TextInput::Open(path, ToTextFormat(options), 0, file_size, pool));
  TextBlocks blocks(std::move(input), kBlockBytes, pool, kMaxCsvBlockBytes);
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    auto row = ParseFirstRow(block, options);
    if (row.has_value()) return std::move(*row);
  }
}

// How many columns come before the named ones, given the fields of the first row.
int64_t CountLeading(const std::vector<std::string>& names, int64_t num_fields,
                     const CsvOptions& options) {
  // All columns that have a name: the fields behind these are left out, as in pandas.
  if (options.usecols.has_value() && options.usecols->size() == names.size()) return 0;
  return std::max<int64_t>(num_fields - static_cast<int64_t>(names.size()), 0);
}

}  // namespace

std::string IndexLevelName(int64_t level) {
  return "__index_level_" + std::to_string(level) + "__";
}

std::vector<std::string> MangleNames(std::vector<std::string> names) {
  // Names that were given come first, so that they are kept and made-up ones yield.
  std::vector<size_t> order;
  std::vector<size_t> unnamed;
  for (size_t i = 0; i < names.size(); ++i) {
    (names[i].empty() ? unnamed : order).push_back(i);
    if (names[i].empty()) names[i] = "Unnamed: " + std::to_string(i);
  }
  order.insert(order.end(), unnamed.begin(), unnamed.end());
  std::set<std::string> taken(names.begin(), names.end());
  std::set<std::string> used;
  std::map<std::string, int64_t> next_suffix;
  for (const size_t i : order) {
    const std::string given = names[i];
    while (used.contains(names[i])) {
      std::string candidate;
      do {
        candidate = given + "." + std::to_string(++next_suffix[given]);
      } while (taken.contains(candidate));
      names[i] = std::move(candidate);
    }
    used.insert(names[i]);
  }
  return names;
}

arrow::Result<CsvHeader> ReadCsvHeader(const std::string& path, int64_t file_size,
                                       const CsvOptions& options,
                                       arrow::MemoryPool* pool) {
  auto read = ReadFirstRow(path, file_size, options, pool);
  if (!read.ok()) return WithPath(read.status(), "Could not read the header of", path);
  FirstRow row = read.MoveValueUnsafe();
  if (row.values.empty()) {
    return arrow::Status::Invalid("No columns to parse from file '", path, "'");
  }
  CsvHeader header;
  header.data_begin = options.has_header() ? row.end : row.begin;
  const auto num_fields = static_cast<int64_t>(row.values.size());
  if (!options.names.empty()) {
    header.names = options.names;
  } else if (options.has_header()) {
    header.names = MangleNames(std::move(row.values));
  } else {
    for (int64_t i = 0; i < num_fields; ++i) header.names.push_back(std::to_string(i));
  }
  const int64_t first_fields = options.has_header() ? row.next_fields : num_fields;
  header.num_leading = CountLeading(header.names, first_fields, options);
  for (int64_t level = header.num_leading - 1; level >= 0; --level) {
    header.names.insert(header.names.begin(), IndexLevelName(level));
  }
  return header;
}

}  // namespace xshards::io
