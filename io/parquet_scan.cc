// SPDX-License-Identifier: Apache-2.0
#include "io/parquet_scan.h"

#include <algorithm>
#include <utility>

#include <parquet/metadata.h>

#include "io/file_system.h"
#include "io/hive_scan.h"
#include "io/parquet_file.h"
#include "io/row_group_filter.h"
#include "io/scan_stream.h"
#include "xshards/conform.h"

namespace xshards::io {
namespace {

// Dictionary-encoded columns unpack to many times their size in the file, so the number
// of rows is limited too.
constexpr int64_t kMaxBatchRows = 64LL << 10;

class ParquetSplitStream final : public BatchStream {
 public:
  ParquetSplitStream(std::unique_ptr<ParquetFile> file, const ScanNode& scan,
                     const Split& split, std::shared_ptr<arrow::Schema> schema,
                     OperatorContext& context)
      : file_(std::move(file)),
        leaves_(file_->LeafIndices(schema->field_names())),
        scan_(scan),
        schema_(std::move(schema)),
        context_(context),
        next_group_(static_cast<int>(split.begin)),
        end_group_(static_cast<int>(split.end)) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    auto batch = NextBatch();
    if (!batch.ok()) return WithPath(batch.status(), "Could not read", file_->path());
    return batch;
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextBatch() {
    while (true) {
      if (rows_without_columns_ > 0) return NextEmptyRows();
      if (reader_ == nullptr) {
        if (next_group_ >= end_group_) return nullptr;
        ARROW_RETURN_NOT_OK(OpenRowGroup(next_group_++));
        continue;
      }
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(reader_->ReadNext(&batch));
      if (batch != nullptr) return Conform(std::move(batch), schema_, context_.pool);
      reader_.reset();
    }
  }

  arrow::Status OpenRowGroup(int group) {
    if (scan_.filter.has_value()) {
      ARROW_ASSIGN_OR_RAISE(const bool skip,
                            CanSkipRowGroup(*file_, group, *scan_.filter, *scan_.schema));
      if (skip) {
        ++context_.metrics->row_groups_skipped;
        return arrow::Status::OK();
      }
    }
    const int64_t num_rows = file_->metadata().RowGroup(group)->num_rows();
    if (leaves_.empty()) {
      rows_without_columns_ = num_rows;
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const auto bytes, file_->BytesOf(group, leaves_));
    context_.metrics->bytes_read += bytes.compressed;
    const int64_t row_bytes =
        std::max<int64_t>(1, bytes.uncompressed / std::max<int64_t>(1, num_rows));
    const int64_t batch_rows =
        std::clamp<int64_t>(context_.batch_bytes / row_bytes, 1, kMaxBatchRows);
    ARROW_ASSIGN_OR_RAISE(reader_,
                          file_->ReadRowGroup(group, schema_->field_names(), batch_rows));
    return arrow::Status::OK();
  }

  // No column of the file is wanted, as for counting: the footer knows the rows.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextEmptyRows() {
    const int64_t num_rows = schema_->num_fields() == 0
                                 ? rows_without_columns_
                                 : std::min(rows_without_columns_, kMaxBatchRows);
    rows_without_columns_ -= num_rows;
    return Conform(
        arrow::RecordBatch::Make(arrow::schema({}), num_rows, arrow::ArrayVector{}),
        schema_, context_.pool);
  }

  const std::unique_ptr<ParquetFile> file_;
  const std::vector<int> leaves_;
  const ScanNode& scan_;  // lives as long as this, see OpenSplit
  const std::shared_ptr<arrow::Schema> schema_;
  OperatorContext& context_;
  int next_group_;
  const int end_group_;
  std::unique_ptr<arrow::RecordBatchReader> reader_;
  int64_t rows_without_columns_ = 0;
};

arrow::Result<std::unique_ptr<BatchStream>> OpenParquetSplit(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(auto file, ParquetFile::Open(split.path, context.pool));
  return std::make_unique<ParquetSplitStream>(std::move(file), scan, split, schema,
                                              context);
}

}  // namespace

OpenNode MakeParquetScan() { return MakeScan(WithHiveColumns(OpenParquetSplit)); }

}  // namespace xshards::io
