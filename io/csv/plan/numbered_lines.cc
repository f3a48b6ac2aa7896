// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/numbered_lines.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "io/csv/parse/rows.h"
#include "io/csv/plan/header.h"
#include "io/csv/text_format.h"
#include "io/fs/file_system.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

// How many fields the rows from `begin` on have at most, or the first that have `enough`;
// 0 without rows.
arrow::Result<int64_t> MostFields(const InputFile& file, CsvLine begin, int64_t enough,
                                  const CsvOptions& options, const arrow::StopToken& stop,
                                  arrow::MemoryPool* pool) {
  constexpr int64_t kBlockBytes = 64LL << 10;
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(file.path, ToTextFormat(options),
                                                    begin.position, file.size, pool));
  TextBlocks blocks(std::move(input), kBlockBytes, pool, kMaxCsvBlockBytes);
  CsvRows rows(options);
  rows.NumberFrom(begin.line);
  int64_t rows_left = options.nrows.value_or(std::numeric_limits<int64_t>::max());
  int64_t most = 0;
  for (bool is_last = false; !is_last && rows_left > 0 && most < enough;) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    is_last = block.is_last;
    rows.Find(block.mutable_text(), block.buffer->size(), is_last, /*num_columns=*/0);
    const int64_t count = std::min(rows.num_rows(), rows_left);
    for (int64_t row = 0; row < count; ++row) {
      most = std::max(
          {most, rows.NumFields(row), int64_t{1}});  // an empty line counts as one field
    }
    rows_left -= count;
    blocks.Consume(std::min(rows.consumed(), block.buffer->size()));
  }
  return most;
}

}  // namespace

arrow::Result<std::vector<CsvLine>> CutNumberedLines(const InputFile& file, CsvLine begin,
                                                     int64_t target_bytes,
                                                     const CsvOptions& options,
                                                     const arrow::StopToken& stop,
                                                     arrow::MemoryPool* pool) {
  const auto& skipped = options.skip_lines;
  if (skipped.empty() || skipped.back() < begin.line) return std::vector<CsvLine>{};
  std::vector<CsvLine> places{begin};
  const auto format = ToTextFormat(options);
  // One split anyway.
  const bool is_whole = target_bytes >= file.size - begin.position;
  if (is_whole || IsSequential(file.path, format)) return places;
  ARROW_ASSIGN_OR_RAISE(
      auto input, TextInput::Open(file.path, format, begin.position, file.size, pool));
  // Cuts are between blocks.
  const int64_t block_bytes = std::clamp<int64_t>(target_bytes / 8, 1, kTextBlockBytes);
  TextBlocks blocks(std::move(input), block_bytes, pool, kMaxCsvBlockBytes);
  CsvRows rows(options);
  rows.NumberFrom(begin.line);
  CsvLine at = begin;
  for (bool is_last = false; !is_last && at.line <= skipped.back();) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    rows.Find(block.mutable_text(), block.buffer->size(), block.is_last,
              /*num_columns=*/0);
    is_last = block.is_last;
    const int64_t consumed = std::min(rows.consumed(), block.buffer->size());
    blocks.Consume(consumed);
    const auto passed = block.text().substr(0, static_cast<size_t>(consumed));
    at.position =
        is_last ? file.size : at.position + FileBytes(passed, file.path, options);
    at.line = rows.line();
    if (at.position - places.back().position >= target_bytes) places.push_back(at);
  }
  if (places.size() == 1 || places.back().position != at.position) places.push_back(at);
  return places;
}

arrow::Result<int64_t> CountLines(const InputFile& file, CsvOptions options,
                                  const arrow::StopToken& stop, arrow::MemoryPool* pool) {
  options.skip_blank_lines = false;
  ARROW_ASSIGN_OR_RAISE(
      auto input, TextInput::Open(file.path, ToTextFormat(options), 0, file.size, pool));
  TextBlocks blocks(std::move(input), TextBlockBytes(file.path, std::nullopt), pool,
                    kMaxCsvBlockBytes);
  CsvRows rows(options);
  rows.NumberFrom(0);
  for (bool is_last = false; !is_last;) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    is_last = block.is_last;
    rows.Find(block.mutable_text(), block.buffer->size(), is_last, /*num_columns=*/0);
    blocks.Consume(std::min(rows.consumed(), block.buffer->size()));
  }
  // The last line may leave its quotes open.
  return rows.line() + (rows.in_quotes() ? 1 : 0);
}

arrow::Status CheckUsedNames(const InputFile& file, CsvLine begin,
                             const CsvOptions& options, const arrow::StopToken& stop,
                             arrow::MemoryPool* pool) {
  const auto num_names = static_cast<int64_t>(options.names.size());
  const bool is_lenient = options.skipfooter > 0 || !options.long_sep.empty();
  if (!options.usecols.has_value() || num_names == 0 || is_lenient) {
    return arrow::Status::OK();
  }
  const auto most = MostFields(file, begin, num_names, options, stop, pool);
  if (!most.ok()) return WithPath(most.status(), "Could not read", file.path);
  const bool are_too_many = *most > 0 && *most < num_names;
  return are_too_many ? TooManyNames(options, *most, file.path) : arrow::Status::OK();
}

void SetSplitLines(const std::string& path, const std::vector<CsvLine>& places,
                   const std::vector<int64_t>& skip_lines, CsvScanOptions* scan) {
  auto next = skip_lines.begin();
  for (size_t i = 0; i < places.size(); ++i) {
    const auto [position, line] = places[i];
    const auto begin = std::lower_bound(next, skip_lines.end(), line);
    next = i + 1 < places.size()
               ? std::lower_bound(begin, skip_lines.end(), places[i + 1].line)
               : skip_lines.end();
    if (begin == next) continue;
    scan->AddLines(path, position, line, {begin, next});
  }
}

}  // namespace xshards::io
