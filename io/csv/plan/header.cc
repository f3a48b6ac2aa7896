// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/header.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "io/csv/parse/rows.h"
#include "io/csv/parse/value_kinds.h"
#include "io/csv/text_format.h"
#include "io/fs/file_system.h"
#include "io/text/byte_order_mark.h"
#include "io/text/parse_error.h"
#include "io/text/text_encoding.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

// The row that determines the columns: the header or, without one, the first.
struct FirstRow {
  int64_t num_lines = 0;  // up to this row and the one after it; 0: no text
  bool is_there = false;
  std::vector<std::string> values;  // none in an empty line
  int64_t begin = 0;
  int64_t end = 0;
  int64_t line = 0;
  bool has_next = false;    // whether another row follows
  int64_t next_fields = 0;  // of that row
};

FirstRow TakeRow(const CsvRows& rows, int64_t row, const CsvOptions& options) {
  FirstRow found{.num_lines = rows.num_rows(), .is_there = row < rows.num_rows()};
  if (!found.is_there) return found;
  const CsvValues values(options);
  const auto& line = rows.LineOf(row);
  for (int64_t column = 0; column < line.num_fields; ++column) {
    std::string scratch;
    const auto field = rows.Field(row, column);
    found.values.emplace_back(values.IsEscaped(field) ? values.Unescape(field, &scratch)
                                                      : field);
  }
  const bool has_line_feed =
      rows.text()[line.end - 1] == '\r' && rows.text()[line.end] == '\n';
  found.begin = line.begin;
  found.end = line.end + (has_line_feed ? 1 : 0);
  found.line = line.number;
  found.has_next = row + 1 < rows.num_rows();
  if (found.has_next) found.next_fields = rows.LineOf(row + 1).num_fields;
  return found;
}

arrow::Result<FirstRow> ReadFirstRow(const std::string& path, int64_t file_size,
                                     const CsvOptions& options,
                                     const arrow::StopToken& stop,
                                     arrow::MemoryPool* pool) {
  constexpr int64_t kBlockBytes = 64LL << 10;
  int64_t wanted = options.has_header() ? options.header_row : 0;
  ARROW_ASSIGN_OR_RAISE(auto input,
                        TextInput::Open(path, ToTextFormat(options), 0, file_size, pool));
  TextBlocks blocks(std::move(input), kBlockBytes, pool, kMaxCsvBlockBytes);
  CsvRows rows(options);
  int64_t position = 0;  // of the block in the file
  int64_t num_passed = 0;
  for (int64_t line = 0;;) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    const auto text = block.text();
    const bool has_mark = blocks.position() == 0 && text.starts_with(kByteOrderMark);
    const size_t begin = has_mark ? kByteOrderMark.size() : 0;
    rows.NumberFrom(line);
    rows.Find(block.mutable_text() + begin, static_cast<int64_t>(text.size() - begin),
              block.is_last, /*num_columns=*/0);
    if (block.is_last || rows.num_rows() > wanted + 1) {
      FirstRow row = TakeRow(rows, wanted, options);
      if (!row.is_there && rows.in_quotes()) {
        return Malformed("Expected all quotes to be closed before the end");
      }
      row.num_lines += num_passed;
      if (!row.is_there) row.begin = row.end = static_cast<int64_t>(text.size() - begin);
      for (int64_t* at : {&row.begin, &row.end}) {
        const auto before = text.substr(0, begin + static_cast<size_t>(*at));
        *at = position + FileBytes(before, path, options);
      }
      return row;
    }
    // With more text, but without the lines before the header.
    if (rows.num_rows() > wanted || rows.consumed() == 0) continue;
    wanted -= rows.num_rows();
    num_passed += rows.num_rows();
    const size_t consumed = begin + static_cast<size_t>(rows.consumed());
    position += FileBytes(text.substr(0, consumed), path, options);
    blocks.Consume(static_cast<int64_t>(consumed));
    line = rows.line();
  }
}

// More names than fields in the rows are an error if there is a header. If only some
// columns are used, all rows are checked (CheckUsedNames).
arrow::Status CheckNames(const FirstRow& row, const CsvOptions& options,
                         const std::string& path) {
  const auto num_names = static_cast<int64_t>(options.names.size());
  const int64_t num_fields =
      std::max(static_cast<int64_t>(row.values.size()), row.next_fields);
  const bool reads_rows = row.has_next && options.nrows != 0;
  if (!options.has_header() || options.usecols.has_value() || !reads_rows ||
      num_names <= num_fields) {
    return arrow::Status::OK();
  }
  return TooManyNames(options, num_fields, path);
}

// The number of columns before the named ones, given the fields of the first row.
int64_t CountLeading(const std::vector<std::string>& names, int64_t num_fields,
                     const CsvOptions& options) {
  // All columns that have a name: fields after these are dropped, as in pandas.
  if (options.usecols.has_value() && options.usecols->size() == names.size()) return 0;
  return std::max<int64_t>(num_fields - static_cast<int64_t>(names.size()), 0);
}

}  // namespace

arrow::Status TooManyNames(const CsvOptions& options, int64_t num_fields,
                           const std::string& path) {
  return Malformed("Too many columns specified: expected " +
                   std::to_string(options.names.size()) + " and found " +
                   std::to_string(num_fields) + " in file '" + path + "'");
}

std::string IndexLevelName(int64_t level) {
  return "__index_level_" + std::to_string(level) + "__";
}

std::vector<std::string> MangleNames(std::vector<std::string> names) {
  // Given names come first, so that they are kept and generated ones are changed.
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
                                       const arrow::StopToken& stop,
                                       arrow::MemoryPool* pool) {
  auto read = ReadFirstRow(path, file_size, options, stop, pool);
  if (!read.ok()) return WithPath(read.status(), "Could not read the header of", path);
  FirstRow row = read.MoveValueUnsafe();
  const auto empty = [&] {
    return NoColumns("No columns to parse from file '" + path + "'");
  };
  if (row.num_lines == 0 && options.names.empty()) return empty();
  if (row.num_lines > 0 && !row.is_there) {
    return Malformed("Passed header=" + std::to_string(options.header_row) +
                     " but only " + std::to_string(row.num_lines) + " lines in file '" +
                     path + "'");
  }
  if (options.has_header()) {
    const auto wrong = std::find_if_not(row.values.begin(), row.values.end(), IsUtf8);
    if (wrong != row.values.end()) {
      return Undecodable("Expected UTF-8 text in the column names of '" + path + "'",
                         "utf-8", *wrong);
    }
  }
  ARROW_RETURN_NOT_OK(CheckNames(row, options, path));
  CsvHeader header;
  header.data_begin = options.has_header() ? row.end : row.begin;
  header.first_line = options.has_header() ? row.line + 1 : row.line;
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
  if (header.names.empty() && header.num_leading == 0) return empty();
  for (int64_t level = header.num_leading - 1; level >= 0; --level) {
    header.names.insert(header.names.begin(), IndexLevelName(level));
  }
  return header;
}

}  // namespace xshards::io
