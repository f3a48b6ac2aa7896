// SPDX-License-Identifier: Apache-2.0
#include "io/csv_header.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <arrow/csv/parser.h>

#include "io/csv_dialect.h"
#include "io/file_system.h"
#include "io/text_input.h"

namespace xshards::io {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct FirstRow {
  std::vector<std::string> values;  // empty: there is no row
  int64_t begin = 0;
  int64_t end = 0;
};

// Read the first row of the text, or nothing where the block is too short for it.
arrow::Result<std::optional<FirstRow>> ParseFirstRow(const TextBlocks::Block& block,
                                                     const CsvOptions& options) {
  std::string_view text = block.text();
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (options.skiprows > 0) {
    const uint8_t* rest = nullptr;
    const int32_t skipped = arrow::csv::SkipRows(
        reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint32_t>(text.size()),
        static_cast<int32_t>(options.skiprows), &rest);
    if (skipped < options.skiprows) {
      if (!block.is_last) return std::nullopt;
      return FirstRow{};
    }
    text.remove_prefix(
        static_cast<size_t>(reinterpret_cast<const char*>(rest) - text.data()));
  }
  FirstRow row;
  row.begin = static_cast<int64_t>(block.text().size() - text.size());
  arrow::csv::BlockParser parser(ToParseOptions(options), /*num_cols=*/-1,
                                 /*first_row=*/-1, /*max_num_rows=*/1);
  if (text.find_first_not_of("\r\n") == std::string_view::npos) {
    if (!block.is_last) return std::nullopt;
    return FirstRow{};
  }
  uint32_t used = 0;
  const auto parsed =
      block.is_last ? parser.ParseFinal(text, &used) : parser.Parse(text, &used);
  // Without a whole row the parser cannot tell the number of columns and fails.
  if (!block.is_last && (!parsed.ok() || parser.num_rows() == 0)) return std::nullopt;
  ARROW_RETURN_NOT_OK(parsed);
  ARROW_RETURN_NOT_OK(parser.VisitLastRow(
      [&](const uint8_t* data, uint32_t size, bool /*quoted*/, bool /*missing*/) {
        row.values.emplace_back(reinterpret_cast<const char*>(data), size);
        return arrow::Status::OK();
      }));
  row.end = row.begin + used;
  return row;
}

arrow::Result<FirstRow> ReadFirstRow(const std::string& path, int64_t file_size,
                                     const CsvOptions& options, arrow::MemoryPool* pool) {
  constexpr int64_t kBlockBytes = 64LL << 10;
  ARROW_ASSIGN_OR_RAISE(auto input,
                        TextInput::Open(path, ToTextFormat(options), 0, file_size, pool));
  TextBlocks blocks(std::move(input), kBlockBytes, pool);
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    ARROW_ASSIGN_OR_RAISE(auto row, ParseFirstRow(block, options));
    if (row.has_value()) return std::move(*row);
  }
}

}  // namespace

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
  if (!options.names.empty()) {
    header.names = options.names;
  } else if (options.has_header()) {
    header.names = MangleNames(std::move(row.values));
  } else {
    for (size_t i = 0; i < row.values.size(); ++i) {
      header.names.push_back(std::to_string(i));
    }
  }
  return header;
}

}  // namespace xshards::io
