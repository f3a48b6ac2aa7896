// SPDX-License-Identifier: Apache-2.0
#include "io/csv/scan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "io/csv/block_reader.h"
#include "io/csv/plan/footer.h"
#include "io/csv/scan_options.h"
#include "io/fs/file_system.h"
#include "io/options/option_codec.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/text/buffer_sizing.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

// Batches of this size mean that there is memory enough.
constexpr int64_t kFullBatchBytes = 4LL << 20;
constexpr int64_t kLongFieldBytes = 32;

class CsvSplitStream final : public BatchStream {
 public:
  CsvSplitStream(std::string path, int64_t begin, int64_t num_columns, TextBlocks blocks,
                 std::unique_ptr<CsvBlockReader> reader, int64_t max_rows,
                 std::shared_ptr<arrow::Schema> schema, OperatorContext& context)
      : path_(std::move(path)),
        begin_(begin),
        num_columns_(num_columns),
        blocks_(std::move(blocks)),
        reader_(std::move(reader)),
        rows_left_(max_rows),
        schema_(std::move(schema)),
        context_(context) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    int64_t capacity = 0;  // of the batch, once it has begun
    while (rows_left_ > 0) {
      if (reader_->rows_in_block() == 0) {
        ARROW_RETURN_NOT_OK(reader_->CheckPassed());
        TellLeftOut(/*is_passed=*/true);
        if (rows_behind_ == 0) break;
        ARROW_RETURN_NOT_OK(NextBlock());
        continue;
      }
      if (capacity == 0) {
        capacity = BatchRows();
        ARROW_RETURN_NOT_OK(reader_->Start(capacity));
      }
      const int64_t num_rows = std::min(
          {reader_->rows_in_block(), capacity - reader_->rows_in_batch(), rows_left_});
      ARROW_RETURN_NOT_OK(reader_->Append(num_rows));
      rows_left_ -= num_rows;
      TellLeftOut(/*is_passed=*/false);
      if (reader_->rows_in_batch() == capacity) break;
    }
    return capacity == 0 ? nullptr : reader_->Finish();
  }

 private:
  arrow::Status NextBlock() {
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    auto block = blocks_.Next();
    if (!block.ok()) return WithPath(block.status(), "Could not read", path_);
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes_read, blocks_.BytesRead());
    context_.metrics->bytes_read += bytes_read - counted_;
    counted_ = bytes_read;
    ARROW_ASSIGN_OR_RAISE(const int64_t consumed,
                          reader_->SetBlock(*block, begin_ + blocks_.position()));
    blocks_.Consume(consumed);
    // Even an empty line has at least one byte.
    if (block->is_last) rows_behind_ = block->buffer->size() - consumed;
    if (reader_->rows_in_block() > 0) {
      row_bytes_ = std::max<int64_t>(1, consumed / reader_->rows_in_block());
    }
    return arrow::Status::OK();
  }

  void TellLeftOut(bool is_passed) {
    auto left_out = reader_->TakeLeftOut(is_passed);
    if (left_out.count == 0) return;
    FragmentMetrics told;
    told.bad_lines = left_out.count;
    told.first_bad_line = std::move(left_out.first);
    context_.metrics->Merge(told);
  }

  // The number of rows for a batch of the target size, or that are left.
  int64_t BatchRows() const {
    const int64_t at_most = std::min(reader_->rows_in_block() + rows_behind_, rows_left_);
    if (rows_behind_ == 0) return at_most;
    int64_t bytes = context_.batch_bytes;
    // Long text buffers have their own pages, which only large ones fill well.
    if (bytes >= kFullBatchBytes && row_bytes_ > kLongFieldBytes * num_columns_) {
      bytes *= 4;
    }
    const int64_t rows = std::max(bytes / row_bytes_, int64_t{1});
    return std::min(PackedRows(rows), at_most);
  }

  const std::string path_;
  const int64_t begin_;
  const int64_t num_columns_;  // of the file
  TextBlocks blocks_;
  const std::unique_ptr<CsvBlockReader> reader_;
  int64_t rows_left_;
  const std::shared_ptr<arrow::Schema> schema_;
  OperatorContext& context_;
  int64_t counted_ = 0;  // bytes already in the metrics
  int64_t row_bytes_ = 1;
  int64_t rows_behind_ =
      std::numeric_limits<int32_t>::max();  // upper bound of the rows after the block
};

arrow::Result<std::unique_ptr<BatchStream>> OpenCsvSplit(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto scan_options, OptionsOf<CsvScanOptions>(scan.options));
  const CsvOptions options = scan_options->OptionsFor(split);
  CsvSource source{.path = split.path, .inferred = scan.inferred, .begin = split.begin};
  source.columns = scan_options->ColumnsOf(split.path);
  source.first_line = scan_options->FirstLineOf(split);
  const auto num_columns = static_cast<int64_t>(source.columns.size());
  ARROW_ASSIGN_OR_RAISE(auto input, OpenCsvText(split, *scan_options, context.pool));
  ARROW_ASSIGN_OR_RAISE(auto reader, CsvBlockReader::Make(options, std::move(source),
                                                          schema, context.pool));
  const int64_t block_bytes = TextBlockBytes(split.path, scan.limit);
  int64_t max_rows = scan.limit.value_or(std::numeric_limits<int64_t>::max());
  if (split.num_rows >= 0) max_rows = std::min(max_rows, split.num_rows);
  return std::make_unique<CsvSplitStream>(
      split.path, split.begin, num_columns,
      TextBlocks(std::move(input), block_bytes, context.pool, kMaxCsvBlockBytes),
      std::move(reader), max_rows, schema, context);
}

}  // namespace

OpenNode MakeCsvScan() { return MakeScan(WithHiveColumns(OpenCsvSplit)); }

}  // namespace xshards::io
