// SPDX-License-Identifier: Apache-2.0
#include "io/text_splits.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>

#include "io/csv_dialect.h"
#include "io/file_system.h"
#include "io/record_boundaries.h"
#include "io/text_input.h"

namespace xshards::io {
namespace {

// Give a file's text from `begin` on to `take`, piece by piece.
template <typename Take>
arrow::Status ForEachChunk(arrow::io::RandomAccessFile& input, const InputFile& file,
                           int64_t begin, arrow::MemoryPool* pool, Take take) {
  // What stays in a core's cache; more where each read is a request.
  const int64_t chunk_bytes = IsLocal(file.path) ? 256LL << 10 : 4LL << 20;
  ARROW_ASSIGN_OR_RAISE(auto chunk, arrow::AllocateBuffer(chunk_bytes, pool));
  for (int64_t at = begin; at < file.size;) {
    ARROW_ASSIGN_OR_RAISE(
        const int64_t got,
        input.ReadAt(at, std::min(chunk_bytes, file.size - at), chunk->mutable_data()));
    if (got == 0) break;
    take(std::string_view(reinterpret_cast<const char*>(chunk->data()),
                          static_cast<size_t>(got)));
    at += got;
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<int64_t>> FindRecordStarts(const InputFile& file,
                                                     int64_t data_begin,
                                                     const std::vector<int64_t>& targets,
                                                     const CsvOptions& options,
                                                     arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenFile(file.path));
  if (!options.quotechar.has_value()) {
    return FindLineStarts(*input, file.size, targets, pool);
  }
  RecordBoundaries boundaries(options.sep, *options.quotechar, data_begin, targets);
  ARROW_RETURN_NOT_OK(
      ForEachChunk(*input, file, data_begin, pool,
                   [&](std::string_view chunk) { boundaries.Feed(chunk); }));
  if (!boundaries.in_quotes()) return boundaries.starts();
  RecordBoundaries traced(options.sep, *options.quotechar, data_begin, {});
  ARROW_RETURN_NOT_OK(ForEachChunk(*input, file, data_begin, pool,
                                   [&](std::string_view chunk) { traced.Trace(chunk); }));
  ARROW_ASSIGN_OR_RAISE(const int64_t line, LineNumber(file.path, ToTextFormat(options),
                                                       traced.opened_at(), pool));
  return arrow::Status::Invalid("Expected the quote opened in line ", line,
                                " to be closed before the end of the file");
}

}  // namespace

std::vector<Split> CutAt(const InputFile& file, int64_t data_begin,
                         const std::vector<int64_t>& starts) {
  std::vector<Split> splits;
  const auto add = [&](int64_t begin, int64_t end) {
    splits.push_back(
        {.path = file.path, .begin = begin, .end = end, .num_bytes = end - begin});
  };
  int64_t begin = data_begin;
  for (const int64_t start : starts) {
    if (start <= begin || start >= file.size) continue;
    add(begin, start);
    begin = start;
  }
  add(begin, file.size);
  return splits;
}

arrow::Result<std::vector<Split>> PlanCsvSplits(const InputFile& file, int64_t data_begin,
                                                int64_t target_bytes,
                                                const CsvOptions& options,
                                                arrow::MemoryPool* pool) {
  if (IsSequential(file.path, ToTextFormat(options))) {
    // Positions count text, whose length is not known; the size is that of the file.
    return std::vector<Split>{{.path = file.path,
                               .begin = data_begin,
                               .end = file.size,
                               .num_bytes = file.size}};
  }
  if (options.escapechar.has_value()) return CutAt(file, data_begin, {});
  auto starts = FindRecordStarts(
      file, data_begin, EvenTargets(data_begin, file.size, target_bytes), options, pool);
  if (!starts.ok()) return WithPath(starts.status(), "Could not split", file.path);
  return CutAt(file, data_begin, *starts);
}

arrow::Result<std::vector<Split>> PlanLineSplits(const InputFile& file,
                                                 int64_t target_bytes,
                                                 arrow::MemoryPool* pool) {
  if (IsSequential(file.path, {})) return CutAt(file, 0, {});
  ARROW_ASSIGN_OR_RAISE(auto input, OpenFile(file.path));
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  char start[3] = {};
  auto got = input->ReadAt(0, sizeof(start), start);
  if (!got.ok()) return WithPath(got.status(), "Could not read", file.path);
  const bool marked = std::string_view(start, sizeof(start)) == kByteOrderMark;
  const int64_t begin = marked ? 3 : 0;
  auto starts = FindLineStarts(*input, file.size,
                               EvenTargets(begin, file.size, target_bytes), pool);
  if (!starts.ok()) return WithPath(starts.status(), "Could not split", file.path);
  return CutAt(file, begin, *starts);
}

void DropEmptySplits(std::vector<Split>* splits) {
  if (splits->empty()) return;
  Split first = splits->front();
  std::erase_if(*splits, [](const Split& split) {
    return split.begin == split.end && split.num_bytes == 0;
  });
  if (splits->empty()) splits->push_back(std::move(first));
}

}  // namespace xshards::io
