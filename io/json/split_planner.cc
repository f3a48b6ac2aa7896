// SPDX-License-Identifier: Apache-2.0
#include "io/json/split_planner.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>

#include "io/fs/file_system.h"
#include "io/json/string_tracker.h"
#include "io/options/option_map.h"
#include "io/options/split_size.h"
#include "io/scan/scan_stream.h"
#include "io/text/line_starts.h"
#include "io/text/text_input.h"
#include "io/text/text_splits.h"

namespace xshards::io {
namespace {

constexpr char kTargetBytes[] = "target_bytes";
constexpr int64_t kEndOfFile = -1;  // behind the starts of each file

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

arrow::Result<std::vector<int64_t>> FindStarts(const Split& split,
                                               const OptionMap& options,
                                               OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto target_bytes, GetInt(options, kTargetBytes));
  ARROW_ASSIGN_OR_RAISE(const auto lines, GetBool(options, "lines"));
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(split.path));
  auto starts =
      lines.value_or(true)
          ? FindLineStarts(*file, split.end,
                           EvenTargets(0, split.end, target_bytes.value_or(1)),
                           context.pool)
          : FindRecordStarts(*file, split.end, target_bytes.value_or(1), context);
  if (!starts.ok()) return WithPath(starts.status(), "Could not split", split.path);
  return starts;
}

arrow::Result<std::unique_ptr<BatchStream>> OpenJsonCuts(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  return MakeOneBatch(schema, [&]() -> arrow::Result<arrow::ArrayVector> {
    ARROW_ASSIGN_OR_RAISE(const auto starts, FindStarts(split, scan.options, context));
    arrow::Int64Builder builder(context.pool);
    ARROW_RETURN_NOT_OK(builder.AppendValues(starts));
    ARROW_RETURN_NOT_OK(builder.Append(kEndOfFile));
    ARROW_ASSIGN_OR_RAISE(auto array, builder.Finish());
    return arrow::ArrayVector{std::move(array)};
  });
}

}  // namespace

OpenNode MakeJsonCutsScan() { return MakeScan(OpenJsonCuts); }

arrow::Result<std::vector<Split>> CutJsonFiles(const std::vector<InputFile>& files,
                                               int64_t target_bytes,
                                               const JsonOptions& options,
                                               const RunPlan& run) {
  ScanNode probe{.format = kJsonCutsFormat};
  probe.options = options.ToMap();
  probe.options[kTargetBytes] = std::to_string(target_bytes);
  probe.schema = arrow::schema({arrow::field("start", arrow::int64())});
  const auto is_cut = [&](const InputFile& file) {
    return !IsCompressed(file.path) && file.size > target_bytes;
  };
  for (const auto& file : files) {
    if (!is_cut(file)) continue;
    probe.splits.push_back(
        {.path = file.path, .begin = 0, .end = file.size, .num_bytes = file.size});
  }
  std::vector<int64_t> found;  // of all files that are cut
  if (!probe.splits.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto batches, run(MakeNode(std::move(probe))));
    for (const auto& batch : batches) {
      const auto& starts = static_cast<const arrow::Int64Array&>(*batch->column(0));
      found.insert(found.end(), starts.raw_values(),
                   starts.raw_values() + starts.length());
    }
  }
  std::vector<Split> splits;
  auto next = found.begin();
  for (const auto& file : files) {
    std::vector<int64_t> starts;
    if (is_cut(file)) {
      const auto end = std::find(next, found.end(), kEndOfFile);
      starts.assign(next, end);
      next = end == found.end() ? end : std::next(end);
    }
    auto pieces = CutAt(file, 0, starts);
    std::move(pieces.begin(), pieces.end(), std::back_inserter(splits));
  }
  return splits;
}

}  // namespace xshards::io
