// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/split_planner.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>

#include "io/csv/parse/scalar_tokenizer.h"
#include "io/csv/plan/record_boundaries.h"
#include "io/csv/plan/speculative_boundaries.h"
#include "io/csv/scan_options.h"
#include "io/csv/text_format.h"
#include "io/fs/file_fingerprint.h"
#include "io/fs/file_system.h"
#include "io/options/option_codec.h"
#include "io/options/split_size.h"
#include "io/scan/scan_stream.h"
#include "io/text/line_starts.h"
#include "io/text/text_input.h"
#include "io/text/text_splits.h"

namespace xshards::io {
namespace {

// A part gives the starts that it has if it begins outside quotes, then those that it has
// if inside. Behind each comes a row that says how the part ends.
constexpr int64_t kEndsOutside = -1;
constexpr int64_t kEndsInQuotes = -2;

/// Looks at one part of a file.
class SegmentReader {
 public:
  SegmentReader(const Split& segment, std::vector<int64_t> targets,
                OperatorContext& context)
      : segment_(segment), targets_(std::move(targets)), context_(context) {}

  arrow::Result<arrow::ArrayVector> Read(const CsvCutOptions& options) {
    ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(segment_.path));
    char previous = '\n';
    if (segment_.begin > 0) {
      ARROW_RETURN_NOT_OK(file->ReadAt(segment_.begin - 1, 1, &previous));
    }
    SegmentBoundaries boundaries(options.sep, options.quotechar, segment_.begin, previous,
                                 targets_);
    ARROW_RETURN_NOT_OK(FeedAll(*file, &boundaries));
    return ToColumns(boundaries);
  }

 private:
  arrow::Status FeedAll(arrow::io::RandomAccessFile& file,
                        SegmentBoundaries* boundaries) {
    const int64_t chunk_bytes = TextBlockBytes(segment_.path, std::nullopt);
    ARROW_ASSIGN_OR_RAISE(auto chunk, arrow::AllocateBuffer(chunk_bytes, context_.pool));
    for (int64_t at = segment_.begin; at < segment_.end;) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_ASSIGN_OR_RAISE(const int64_t got,
                            file.ReadAt(at, std::min(chunk_bytes, segment_.end - at),
                                        chunk->mutable_data()));
      if (got == 0) break;
      boundaries->Feed(
          {reinterpret_cast<const char*>(chunk->data()), static_cast<size_t>(got)});
      at += got;
    }
    return arrow::Status::OK();
  }

  arrow::Result<arrow::ArrayVector> ToColumns(const SegmentBoundaries& boundaries) const {
    arrow::Int64Builder starts(context_.pool);
    for (const bool begins_in_quotes : {false, true}) {
      const auto found = boundaries.Found(begins_in_quotes);
      ARROW_RETURN_NOT_OK(starts.AppendValues(found.starts));
      ARROW_RETURN_NOT_OK(starts.Append(found.in_quotes ? kEndsInQuotes : kEndsOutside));
    }
    ARROW_ASSIGN_OR_RAISE(auto array, starts.Finish());
    return arrow::ArrayVector{std::move(array)};
  }

  const Split& segment_;
  const std::vector<int64_t> targets_;
  OperatorContext& context_;
};

arrow::Result<arrow::ArrayVector> LookThrough(const ScanNode& scan, const Split& split,
                                              OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<CsvCutOptions>(scan.options));
  const auto found_begin = options->data_begins.find(split.path);
  const int64_t data_begin =
      found_begin == options->data_begins.end() ? 0 : found_begin->second;
  // The file's end is found by its last part, which has no later target.
  auto targets = EvenTargets(data_begin, split.num_bytes, options->target_bytes);
  // A record that starts at a target has its line feed just before it.
  std::erase_if(targets,
                [&](int64_t t) { return t - 1 < split.begin || t - 1 >= split.end; });
  auto found = SegmentReader(split, std::move(targets), context).Read(*options);
  if (!found.ok()) return WithPath(found.status(), "Could not split", split.path);
  return found;
}

arrow::Result<std::unique_ptr<BatchStream>> OpenCsvCuts(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  return MakeOneBatch(schema, [&] { return LookThrough(scan, split, context); });
}

// Cut a file into parts to scan, each beginning before a target and not after a quote,
// whose meaning would be ambiguous.
arrow::Result<std::vector<Split>> MakeSegments(const CsvText& text,
                                               const std::vector<int64_t>& targets,
                                               int64_t segment_bytes, char quotechar) {
  std::vector<Split> segments;
  const auto add = [&](int64_t begin, int64_t end) {
    // The scan gets the size of the file where other scans have that of the split.
    segments.push_back({.path = text.file.path,
                        .begin = begin,
                        .end = end,
                        .num_bytes = text.file.size});
  };
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(text.file.path));
  int64_t begin = text.data_begin;
  for (const int64_t target : targets) {
    const int64_t end = target - 1;
    if (end - begin < segment_bytes || end <= text.data_begin) continue;
    char previous = quotechar;
    ARROW_RETURN_NOT_OK(file->ReadAt(end - 1, 1, &previous));
    if (previous == quotechar) continue;
    add(begin, end);
    begin = end;
  }
  add(begin, text.file.size);
  return segments;
}

/// Finds the record starts of a file by reading only around the targets.
class NearTargets {
 public:
  NearTargets(const CsvText& text, const CsvOptions& options)
      : text_(text), sep_(options.sep), quotechar_(*options.quotechar) {}

  /// The starts, or nullopt if the text before some target does not show whether it is
  /// inside quotes.
  arrow::Result<std::optional<std::vector<int64_t>>> Find(
      const std::vector<int64_t>& targets, arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(file_, OpenFile(text_.file.path));
    ARROW_ASSIGN_OR_RAISE(chunk_, arrow::AllocateBuffer(kWindowBytes, pool));
    std::vector<int64_t> starts;
    for (const int64_t target : targets) {
      if (!starts.empty() && target <= starts.back()) continue;
      ARROW_ASSIGN_OR_RAISE(const auto start, FindOne(target));
      if (!start.has_value()) return std::nullopt;
      if (*start < text_.file.size) starts.push_back(*start);
    }
    return starts;
  }

  static constexpr int64_t kWindowBytes = 64LL << 10;

 private:
  arrow::Result<std::string_view> Read(int64_t begin, int64_t end) {
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          file_->ReadAt(begin, std::min(end - begin, kWindowBytes),
                                        chunk_->mutable_data()));
    return std::string_view(reinterpret_cast<const char*>(chunk_->data()),
                            static_cast<size_t>(got));
  }

  arrow::Result<std::optional<int64_t>> FindOne(int64_t target) {
    // The byte before the first one that counts must not be a quote.
    const int64_t window_begin = target - kWindowBytes;
    ARROW_ASSIGN_OR_RAISE(auto window, Read(window_begin, target - 1));
    const size_t first = window.find_first_not_of(quotechar_);
    if (first == std::string_view::npos) return std::nullopt;
    int64_t at = window_begin + static_cast<int64_t>(first) + 1;
    SegmentBoundaries boundaries(sep_, quotechar_, at, window[first], {target});
    window.remove_prefix(first + 1);
    boundaries.Feed(window);
    if (!boundaries.agree()) return std::nullopt;
    at += static_cast<int64_t>(window.size());
    constexpr int kMaxReads = 256;
    for (int i = 0; i < kMaxReads && at < text_.file.size; ++i) {
      ARROW_ASSIGN_OR_RAISE(const auto more, Read(at, text_.file.size));
      if (more.empty()) break;
      boundaries.Feed(more);
      const auto found = boundaries.Found(/*begins_in_quotes=*/false);
      if (!found.starts.empty()) return found.starts.front();
      at += static_cast<int64_t>(more.size());
    }
    if (at < text_.file.size) return std::nullopt;
    return text_.file.size;
  }

  const CsvText& text_;
  const char sep_;
  const char quotechar_;
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::unique_ptr<arrow::Buffer> chunk_;
};

// The same if it pays: if it works for the first target.
arrow::Result<std::optional<std::vector<int64_t>>> FindNearTargets(
    const CsvText& text, const std::vector<int64_t>& targets, const CsvOptions& options,
    arrow::MemoryPool* pool) {
  if (targets.front() - text.data_begin < 4 * NearTargets::kWindowBytes) {
    return std::nullopt;
  }
  return NearTargets(text, options).Find(targets, pool);
}

/// Combines the outputs of the parts of a file, which arrive in order.
class CutsReader {
 public:
  explicit CutsReader(const arrow::RecordBatchVector& batches) : batches_(batches) {}

  /// The record starts of the next file, which has `num_segments` parts.
  std::vector<int64_t> ReadFile(size_t num_segments) {
    std::vector<int64_t> starts;
    bool in_quotes = false;
    for (size_t i = 0; i < num_segments; ++i) {
      const bool begins_in_quotes = in_quotes;
      for (const bool assumed : {false, true}) {
        int64_t start = Take();
        for (; start >= 0; start = Take()) {
          const bool is_new = starts.empty() || start > starts.back();
          if (assumed == begins_in_quotes && is_new) starts.push_back(start);
        }
        if (assumed == begins_in_quotes) in_quotes = start == kEndsInQuotes;
      }
    }
    return starts;
  }

 private:
  int64_t Take() {
    while (batch_ < batches_.size() && row_ == batches_[batch_]->num_rows()) {
      ++batch_;
      row_ = 0;
    }
    if (batch_ == batches_.size()) return kEndsOutside;
    const auto& starts =
        static_cast<const arrow::Int64Array&>(*batches_[batch_]->column(0));
    return starts.Value(row_++);
  }

  const arrow::RecordBatchVector& batches_;
  size_t batch_ = 0;
  int64_t row_ = 0;
};

// A file that cannot or need not be cut.
std::vector<Split> Whole(const CsvText& text, const CsvOptions& options) {
  if (!IsSequential(text.file.path, ToTextFormat(options))) {
    return CutAt(text.file, text.data_begin, {});
  }
  // Positions count text, whose length is not known; the size is that of the file.
  Split whole{.path = text.file.path,
              .begin = text.data_begin,
              .end = text.file.size,
              .num_bytes = text.file.size};
  NoteFileState(text.file, &whole);
  return {std::move(whole)};
}

arrow::Result<std::vector<int64_t>> LineStarts(const CsvText& text,
                                               const std::vector<int64_t>& targets,
                                               arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenFile(text.file.path));
  return FindLineStarts(*input, text.file.size, targets, pool);
}

arrow::Result<bool> HasByte(const CsvText& text, char byte, const arrow::StopToken& stop,
                            arrow::MemoryPool* pool) {
  const int64_t chunk_bytes = TextBlockBytes(text.file.path, std::nullopt);
  ARROW_ASSIGN_OR_RAISE(auto input, OpenFile(text.file.path));
  ARROW_ASSIGN_OR_RAISE(auto chunk, arrow::AllocateBuffer(chunk_bytes, pool));
  for (int64_t at = text.data_begin; at < text.file.size;) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          input->ReadAt(at, std::min(chunk_bytes, text.file.size - at),
                                        chunk->mutable_data()));
    if (got == 0) break;
    if (std::memchr(chunk->data(), byte, static_cast<size_t>(got)) != nullptr) {
      return true;
    }
    at += got;
  }
  return false;
}

// The line starts at targets, where each line of an odd structure is a record; else none.
arrow::Result<std::vector<int64_t>> OddLineStarts(const CsvText& text,
                                                  const std::vector<int64_t>& targets,
                                                  const CsvOptions& options,
                                                  const arrow::StopToken& stop,
                                                  arrow::MemoryPool* pool) {
  if (options.escapechar.has_value()) return std::vector<int64_t>{};
  if (options.quotechar.has_value()) {
    ARROW_ASSIGN_OR_RAISE(const bool has_quote,
                          HasByte(text, *options.quotechar, stop, pool));
    if (has_quote) return std::vector<int64_t>{};
  }
  return LineStarts(text, targets, pool);
}

}  // namespace

OpenNode MakeCsvCutsScan() { return MakeScan(OpenCsvCuts); }

arrow::Result<std::vector<Split>> CutCsvFiles(const std::vector<CsvText>& texts,
                                              const CsvCutting& cutting,
                                              const CsvOptions& options,
                                              const RunPlan& run,
                                              arrow::MemoryPool* pool) {
  ScanNode probe{.format = kCsvCutsFormat};
  CsvCutOptions of_probe{.sep = options.sep,
                         .quotechar = options.quotechar.value_or('"'),
                         .target_bytes = cutting.target_bytes};
  probe.schema = arrow::schema({arrow::field("start", arrow::int64())});
  std::vector<size_t> num_segments(texts.size());  // 0: not scanned
  std::vector<std::vector<int64_t>> starts(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    CsvText rest = texts[i];
    if (!rest.starts.empty()) rest.data_begin = rest.starts.back();
    const auto& file = rest.file;
    if (IsSequential(file.path, ToTextFormat(options))) continue;
    const auto targets = EvenTargets(rest.data_begin, file.size, cutting.target_bytes);
    if (targets.empty()) continue;
    if (IsOdd(options) || !options.quotechar.has_value()) {
      auto lines = IsOdd(options)
                       ? OddLineStarts(rest, targets, options, cutting.stop, pool)
                       : LineStarts(rest, targets, pool);
      if (!lines.ok()) return WithPath(lines.status(), "Could not split", file.path);
      starts[i] = lines.MoveValueUnsafe();
      continue;
    }
    auto near_targets = FindNearTargets(rest, targets, options, pool);
    if (!near_targets.ok()) {
      return WithPath(near_targets.status(), "Could not split", file.path);
    }
    if (near_targets->has_value()) {
      starts[i] = std::move(**near_targets);
      continue;
    }
    auto segments =
        MakeSegments(rest, targets, cutting.segment_bytes, *options.quotechar);
    if (!segments.ok()) return WithPath(segments.status(), "Could not split", file.path);
    num_segments[i] = segments->size();
    std::move(segments->begin(), segments->end(), std::back_inserter(probe.splits));
    of_probe.data_begins[file.path] = rest.data_begin;
  }
  arrow::RecordBatchVector batches;
  if (!probe.splits.empty()) {
    probe.options = MakeOptions(std::move(of_probe));
    ARROW_ASSIGN_OR_RAISE(batches, run(MakeNode(std::move(probe))));
  }
  CutsReader reader(batches);
  std::vector<Split> splits;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (num_segments[i] > 0) starts[i] = reader.ReadFile(num_segments[i]);
    starts[i].insert(starts[i].begin(), texts[i].starts.begin(), texts[i].starts.end());
    auto pieces = starts[i].empty()
                      ? Whole(texts[i], options)
                      : CutAt(texts[i].file, texts[i].data_begin, starts[i]);
    std::move(pieces.begin(), pieces.end(), std::back_inserter(splits));
  }
  return splits;
}

}  // namespace xshards::io
