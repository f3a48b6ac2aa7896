// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/footer.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "io/csv/parse/rows.h"
#include "io/csv/text_format.h"
#include "io/fs/file_system.h"
#include "io/text/parse_error.h"

namespace xshards::io {
namespace {

// Where the last lines of a split begin, `count` at most, ascending.
arrow::Result<std::deque<int64_t>> LastLines(const Split& split, size_t count,
                                             CsvOptions options,
                                             const arrow::StopToken& stop,
                                             arrow::MemoryPool* pool) {
  options.skip_blank_lines = false;  // these count too, as do those skipped by number
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(split, ToTextFormat(options), pool));
  TextBlocks blocks(std::move(input), TextBlockBytes(split.path, std::nullopt), pool,
                    kMaxCsvBlockBytes);
  CsvRows rows(options);
  std::deque<int64_t> begins;
  int64_t position = split.begin;
  for (bool is_last = false; !is_last;) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    is_last = block.is_last;
    const auto text = block.text();
    rows.Find(block.mutable_text(), block.buffer->size(), is_last, /*num_columns=*/0);
    if (is_last && rows.in_quotes()) {
      return Malformed("Expected all quotes to be closed before the end");
    }
    int64_t passed = 0;  // of the text
    const auto pass = [&](int64_t end) {
      const auto piece =
          text.substr(static_cast<size_t>(passed), static_cast<size_t>(end - passed));
      position += FileBytes(piece, split.path, options);
      passed = end;
    };
    const auto num_rows = rows.num_rows();
    const auto wanted =
        static_cast<int64_t>(std::min<size_t>(count, static_cast<size_t>(num_rows)));
    for (int64_t row = num_rows - wanted; row < num_rows; ++row) {
      pass(rows.LineOf(row).begin);
      begins.push_back(position);
      if (begins.size() > count) begins.pop_front();
    }
    const int64_t consumed = std::min(rows.consumed(), block.buffer->size());
    pass(consumed);
    blocks.Consume(consumed);
  }
  return begins;
}

// Shorten the splits of one file.
arrow::Status DropFooter(std::vector<Split>* splits, const arrow::StopToken& stop,
                         arrow::MemoryPool* pool, CsvScanOptions* scan) {
  const CsvOptions& options = scan->csv;
  auto left = static_cast<size_t>(options.skipfooter);
  while (left > 0) {
    Split& last = splits->back();
    auto begins = LastLines(last, left, options, stop, pool);
    if (!begins.ok()) {
      return WithPath(begins.status(), "Could not find the last lines of", last.path);
    }
    const int64_t end = begins->size() == left ? begins->front() : last.begin;
    if (IsSequential(last.path, ToTextFormat(options))) {
      scan->text_ends[last.path] = end;
      return arrow::Status::OK();
    }
    last.end = end;
    last.num_bytes = end - last.begin;
    left -= begins->size();
    if (splits->size() == 1) return arrow::Status::OK();
    if (last.num_bytes == 0) splits->pop_back();
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status DropFooters(const arrow::StopToken& stop, arrow::MemoryPool* pool,
                          CsvScanOptions* scan, std::vector<Split>* splits) {
  if (scan->csv.skipfooter == 0) return arrow::Status::OK();
  std::vector<Split> all = std::move(*splits);
  splits->clear();
  for (auto at = all.begin(); at != all.end();) {
    auto next = at + 1;
    // The same file may be listed twice.
    while (next != all.end() && next->path == at->path && next->begin > at->begin) ++next;
    std::vector<Split> file(at, next);
    ARROW_RETURN_NOT_OK(DropFooter(&file, stop, pool, scan));
    std::move(file.begin(), file.end(), std::back_inserter(*splits));
    at = next;
  }
  return arrow::Status::OK();
}

arrow::Result<TextInput> OpenCsvText(const Split& split, const CsvScanOptions& scan,
                                     arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(split, ToTextFormat(scan.csv), pool));
  const auto end = scan.text_ends.find(split.path);
  if (end != scan.text_ends.end()) input.max_text = end->second - split.begin;
  return input;
}

}  // namespace xshards::io
