// SPDX-License-Identifier: Apache-2.0
#include "io/json/scan.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "io/json/block_reader.h"
#include "io/json/options.h"
#include "io/json/scan_options.h"
#include "io/options/option_codec.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/text/buffer_sizing.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

class JsonSplitStream final : public BatchStream {
 public:
  JsonSplitStream(std::string path, int64_t least_bytes, JsonInput input,
                  std::unique_ptr<JsonRecords> records, int64_t batch_bytes,
                  int64_t max_rows, std::shared_ptr<arrow::Schema> schema,
                  OperatorContext& context)
      : path_(std::move(path)),
        least_bytes_(least_bytes),
        input_(std::move(input)),
        records_(std::move(records)),
        batch_bytes_(batch_bytes),
        rows_left_(max_rows),
        schema_(std::move(schema)),
        context_(context) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (rows_left_ <= 0) return nullptr;
    for (int64_t num_bytes = 0; num_bytes < batch_bytes_ && !is_done_;) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_ASSIGN_OR_RAISE(const auto block, input_.Next());
      ARROW_RETURN_NOT_OK(CountBytes());
      const int64_t rows_before = records_->num_rows();
      const auto appended = records_->Append(block);
      if (!appended.ok()) {
        // Faults after the requested rows are not errors.
        if (records_->num_rows() < rows_left_) return appended.status();
        if (!std::exchange(is_told_, true)) TellBadLines();
        rows_left_ = 0;
        return records_->Finish();
      }
      const int64_t used = *appended;
      input_.Consume(used);
      num_bytes += used;
      is_done_ = block.is_last;
      const int64_t block_rows = records_->num_rows() - rows_before;
      if (expected_rows_ == 0 && block_rows > 0 && !is_done_)
        PlanBatches(used / block_rows);
      const bool is_full = records_->num_rows() + block_rows > expected_rows_;
      if (expected_rows_ > 0 && is_full) break;
    }
    if (is_done_ && !std::exchange(is_told_, true)) TellBadLines();
    if (is_done_ && counted_ < least_bytes_) {
      return arrow::Status::IOError("Could not read '", path_, "': Expected ",
                                    least_bytes_,
                                    " bytes as when the scan was planned, got ", counted_,
                                    "; the file was truncated");
    }
    if (records_->num_rows() == 0 && is_done_) return nullptr;
    rows_left_ -= records_->num_rows();
    return records_->Finish();
  }

 private:
  arrow::Status CountBytes() {
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes_read, input_.BytesRead());
    context_.metrics->bytes_read += bytes_read - counted_;
    counted_ = bytes_read;
    return arrow::Status::OK();
  }

  // Choose the number of rows of batches: a multiple of 8, for the validity bits.
  void PlanBatches(int64_t row_bytes) {
    constexpr int64_t kMultiple = 64;
    const int64_t rows = PackedRows(batch_bytes_ / std::max<int64_t>(row_bytes, 1));
    if (rows < kMultiple) return;
    expected_rows_ = rows / kMultiple * kMultiple;
    records_->Expect(expected_rows_);
  }

  void TellBadLines() {
    if (records_->num_bad_lines() == 0) return;
    FragmentMetrics told;
    told.bad_lines = records_->num_bad_lines();
    told.first_bad_line = records_->first_bad_line();
    context_.metrics->Merge(told);
  }

  const std::string path_;
  const int64_t least_bytes_;
  JsonInput input_;
  const std::unique_ptr<JsonRecords> records_;
  const int64_t batch_bytes_;
  int64_t rows_left_;  // still to read
  const std::shared_ptr<arrow::Schema> schema_;
  OperatorContext& context_;
  int64_t expected_rows_ = 0;  // of a batch; 0: not known yet
  bool is_done_ = false;
  bool is_told_ = false;
  int64_t counted_ = 0;  // bytes already in the metrics
};

arrow::Result<std::unique_ptr<BatchStream>> OpenJsonSplit(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto scan_options,
                        OptionsOf<JsonScanOptions>(scan.options));
  const JsonOptions& options = scan_options->json;
  JsonRecordFormat format;
  format.on_bad_lines = options.on_bad_lines;
  format.path = split.path;
  format.wanted = schema;
  format.known = FileSchema(scan);
  format.inferred = scan.inferred;
  format.target = BestJsonTarget();
  for (const auto& [name, type] : options.dtype) format.settled.push_back(name);
  if (!options.lines.value_or(true)) {
    format.layout = JsonLayout::kArray;
    format.is_final = split.end >= split.file_bytes;
  }
  const int64_t block_bytes = TextBlockBytes(split.path, scan.limit);
  ARROW_ASSIGN_OR_RAISE(auto input,
                        JsonInput::Open(split, format.layout, block_bytes, context.pool));
  ARROW_ASSIGN_OR_RAISE(auto records, JsonRecords::Make(std::move(format), context.pool));
  return std::make_unique<JsonSplitStream>(
      split.path, IsCompressed(split.path) ? 0 : split.end - split.begin,
      std::move(input), std::move(records),
      block_bytes < kTextBlockBytes ? block_bytes : context.batch_bytes,
      scan.limit.value_or(std::numeric_limits<int64_t>::max()), schema, context);
}

}  // namespace

OpenNode MakeJsonScan() { return MakeScan(WithHiveColumns(OpenJsonSplit)); }

}  // namespace xshards::io
