// SPDX-License-Identifier: Apache-2.0
#include "io/json/split_planner.h"

#include <algorithm>

#include <arrow/buffer.h>

#include "io/fs/file_system.h"
#include "io/json/record_boundaries.h"
#include "io/options/split_size.h"
#include "io/scan/file_cuts.h"
#include "io/text/line_starts.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

// Follows brackets and strings to find the objects of the outermost array.
class RecordFinder {
 public:
  explicit RecordFinder(int64_t target_bytes)
      : target_bytes_(target_bytes), next_(target_bytes) {}

  void Feed(const char* text, int64_t size, int64_t position) {
    for (int64_t i = 0; i < size; ++i) {
      const char c = text[i];
      if (quotes_.Contain(c)) continue;
      if (c == '{' || c == '[') {
        // The first record belongs to the bracket before it.
        if (depth_ == 1 && c == '{' && position + i >= next_ && has_record_) {
          starts_.push_back(position + i);
          next_ = position + i + target_bytes_;
        }
        has_record_ = has_record_ || depth_ == 1;
        ++depth_;
      } else if (c == '}' || c == ']') {
        --depth_;
      }
    }
  }

  const std::vector<int64_t>& starts() const { return starts_; }

 private:
  const int64_t target_bytes_;
  int64_t next_;
  int64_t depth_ = 0;
  bool has_record_ = false;
  JsonQuotes quotes_;
  std::vector<int64_t> starts_;
};

arrow::Result<std::vector<int64_t>> FindRecordStarts(arrow::io::RandomAccessFile& file,
                                                     int64_t size, int64_t target_bytes,
                                                     OperatorContext& context) {
  constexpr int64_t kChunkBytes = 1LL << 20;
  ARROW_ASSIGN_OR_RAISE(auto chunk, arrow::AllocateBuffer(kChunkBytes, context.pool));
  RecordFinder finder(target_bytes);
  for (int64_t at = 0; at < size;) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    ARROW_ASSIGN_OR_RAISE(
        const int64_t got,
        file.ReadAt(at, std::min(kChunkBytes, size - at), chunk->mutable_data()));
    if (got == 0) break;
    finder.Feed(reinterpret_cast<const char*>(chunk->data()), got, at);
    context.metrics->bytes_read += got;
    at += got;
  }
  return finder.starts();
}

arrow::Result<std::vector<int64_t>> FindJsonStarts(const Split& split,
                                                   const CutOptions& options,
                                                   OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(split.path));
  if (!options.records_are_lines) {
    return FindRecordStarts(*file, split.end, options.target_bytes, context);
  }
  return FindLineStarts(*file, split.end, EvenTargets(0, split.end, options.target_bytes),
                        context.pool);
}

}  // namespace

OpenNode MakeJsonCutsScan() { return MakeCutsScan(FindJsonStarts); }

arrow::Result<std::vector<Split>> CutJsonFiles(const std::vector<InputFile>& files,
                                               int64_t target_bytes,
                                               const JsonOptions& options,
                                               const RunPlan& run) {
  return CutFiles(
      files,
      {.target_bytes = target_bytes, .records_are_lines = options.lines.value_or(true)},
      kJsonCutsFormat, [](const InputFile& file) { return !IsCompressed(file.path); },
      run);
}

}  // namespace xshards::io
