// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/scan.h"

#include <algorithm>
#include <utility>

#include <parquet/metadata.h>

#include "io/columnar/group_splits.h"
#include "io/columnar/scan_options.h"
#include "io/fs/file_system.h"
#include "io/options/option_codec.h"
#include "io/parquet/file.h"
#include "io/parquet/row_group_pruning.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "xshards/types/conform.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards::io {
namespace {

// Dictionary-encoded columns unpack to many times their size in the file, so the number
// of rows is limited too.
constexpr int64_t kMaxBatchRows = 64LL << 10;

// How much larger than planned a batch may be: pages may decode to any size.
constexpr int64_t kMaxGrowth = 16;
constexpr int64_t kMinTextBytes = 256LL << 10;

class ParquetSplitStream final : public BatchStream {
 public:
  ParquetSplitStream(std::unique_ptr<ParquetFile> file, const ScanNode& scan,
                     const Split& split, int64_t parts,
                     std::shared_ptr<arrow::Schema> schema, OperatorContext& context)
      : file_(std::move(file)),
        leaves_(file_->LeafIndices(schema->field_names())),
        scan_(scan),
        schema_(std::move(schema)),
        values_(DecodedSchema(scan.schema)),
        context_(context),
        parts_(parts),
        next_(split.begin),
        end_(split.end) {}

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
        if (next_ >= end_) return nullptr;
        // Consecutive parts of a row group are read together.
        const int64_t first = next_ % parts_;
        const int64_t last = std::min(parts_, first + end_ - next_);
        ARROW_RETURN_NOT_OK(OpenRowGroup(static_cast<int>(next_ / parts_), first, last));
        next_ += last - first;
        continue;
      }
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(reader_->ReadNext(&batch));
      if (batch != nullptr) return Conform(std::move(batch), schema_, context_.pool);
      reader_.reset();
    }
  }

  /// Begin with the parts of a row group from `first` to before `last`.
  arrow::Status OpenRowGroup(int group, int64_t first, int64_t last) {
    if (scan_.filter.has_value()) {
      ARROW_ASSIGN_OR_RAISE(const bool skip,
                            CanSkipRowGroup(*file_, group, *scan_.filter, *values_));
      if (skip) {
        context_.metrics->row_groups_skipped += first == 0 ? 1 : 0;
        return arrow::Status::OK();
      }
    }
    ARROW_ASSIGN_OR_RAISE(const int64_t group_rows, file_->RowsOf(group));
    const RowRange part{PartBegin(group_rows, first, parts_),
                        PartBegin(group_rows, last, parts_)};
    if (leaves_.empty()) {
      rows_without_columns_ = part.end - part.begin;
      return arrow::Status::OK();
    }
    RowRanges rows = {part};
    if (scan_.filter.has_value()) {
      rows = Intersect(rows, RowsThatMayPass(*file_, group, *scan_.filter, *values_));
    }
    int64_t num_rows = 0;
    for (const auto& range : rows) num_rows += range.end - range.begin;
    if (num_rows == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto bytes, file_->BytesOf(group, leaves_));
    context_.metrics->bytes_read += static_cast<int64_t>(
        static_cast<double>(bytes.compressed) * static_cast<double>(num_rows) /
        static_cast<double>(group_rows));
    const int64_t row_bytes = std::max<int64_t>(1, bytes.uncompressed / group_rows);
    const int64_t num_columns = std::ssize(leaves_);
    // Values may be stored in next to no bytes, and are eight each when decoded.
    const int64_t most_rows = kMaxGrowth * context_.batch_bytes / (8 * num_columns);
    const int64_t batch_rows =
        std::clamp<int64_t>(std::min({context_.batch_bytes / row_bytes, most_rows,
                                      scan_.limit.value_or(kMaxBatchRows)}),
                            1, kMaxBatchRows);
    const int64_t text_bytes =
        std::max(kMaxGrowth * context_.batch_bytes / num_columns, kMinTextBytes);
    return file_->ReadRows(group, std::move(rows), *schema_, batch_rows, text_bytes)
        .Value(&reader_);
  }

  // No column of the file is requested, as for counting: the footer has the number of
  // rows.
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
  const std::shared_ptr<arrow::Schema> values_;  // of all columns, for filters
  OperatorContext& context_;
  const int64_t parts_;  // that row groups are cut into
  int64_t next_;         // part, of those of all row groups
  const int64_t end_;
  std::unique_ptr<arrow::RecordBatchReader> reader_;
  int64_t rows_without_columns_ = 0;
};

arrow::Result<std::unique_ptr<BatchStream>> OpenParquetSplit(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<GroupScanOptions>(scan.options));
  if (options->parts < 1) {
    return arrow::Status::Invalid("parts must be at least 1, got ", options->parts);
  }
  // A part does not read the rows after it.
  ARROW_ASSIGN_OR_RAISE(auto file, ParquetFile::Open(split, context.pool,
                                                     /*in_pieces=*/options->parts > 1));
  ARROW_RETURN_NOT_OK(
      CheckGroups(split, file->metadata().num_row_groups() * options->parts));
  return std::make_unique<ParquetSplitStream>(std::move(file), scan, split,
                                              options->parts, schema, context);
}

}  // namespace

OpenNode MakeParquetScan() { return MakeScan(WithHiveColumns(OpenParquetSplit)); }

}  // namespace xshards::io
