// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/row_group_reader.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/io/caching.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "io/parquet/catch_parquet.h"
#include "io/parquet/column_decoder.h"

namespace xshards::io {
namespace {

class RowGroupBatches final : public arrow::RecordBatchReader {
 public:
  RowGroupBatches(std::shared_ptr<parquet::RowGroupReader> group,
                  const RowGroupRequest& request)
      : group_(std::move(group)),
        batch_rows_(request.batch_rows),
        text_bytes_(request.text_bytes),
        rows_(request.rows) {}

  /// Add a column; those without a decoder are in the batches of Arrow's reader.
  void Add(std::shared_ptr<arrow::Field> field, std::unique_ptr<FlatColumn> decoder) {
    columns_.push_back({std::move(field), std::move(decoder)});
  }

  arrow::Status Finish(std::unique_ptr<arrow::RecordBatchReader> others) {
    others_ = std::move(others);
    const auto other_schema = others_ == nullptr ? nullptr : others_->schema();
    arrow::FieldVector fields;
    for (auto& column : columns_) {
      if (column.decoder == nullptr) {
        const auto found = other_schema->GetAllFieldIndices(column.field->name());
        if (found.empty()) {
          return arrow::Status::Invalid("No column '", column.field->name(), "'");
        }
        column.other = found.front();
        column.field = column.field->WithType(other_schema->field(column.other)->type());
      }
      fields.push_back(column.field);
    }
    schema_ = arrow::schema(std::move(fields));
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    *out = nullptr;
    while (range_ < rows_.size() && position_ >= rows_[range_].end) ++range_;
    if (range_ == rows_.size()) return arrow::Status::OK();
    const RowRange range = rows_[range_];
    if (position_ < range.begin) ARROW_RETURN_NOT_OK(SkipTo(range.begin));
    int64_t num_rows = std::min(batch_rows_, range.end - position_);
    ARROW_RETURN_NOT_OK(FillColumns(&num_rows));
    position_ += num_rows;
    *out = TakeRows(num_rows);
    return arrow::Status::OK();
  }

 private:
  /// Decode the next rows of all columns, as many as each has in its bytes; `num_rows`
  /// becomes what all have. Rows of a column that were not given are the next ones.
  arrow::Status FillColumns(int64_t* num_rows) {
    for (const auto& column : columns_) {
      if (column.rows != nullptr) *num_rows = std::min(*num_rows, column.rows->length());
    }
    const auto lacks_others = [](const Column& column) {
      return column.decoder == nullptr && column.rows == nullptr;
    };
    if (std::any_of(columns_.begin(), columns_.end(), lacks_others)) {
      ARROW_ASSIGN_OR_RAISE(const auto others, NextOthers(*num_rows));
      for (auto& column : columns_) {
        if (lacks_others(column)) column.rows = others->column(column.other);
      }
      *num_rows = others->num_rows();
    }
    for (auto& column : columns_) {
      if (column.rows == nullptr) {
        auto read = column.decoder->Read(*num_rows, text_bytes_);
        if (!read.ok()) {
          return read.status().WithMessage("column '", column.field->name(),
                                           "': ", read.status().message());
        }
        column.rows = arrow::MakeArray(read.MoveValueUnsafe());
      }
      *num_rows = std::min(*num_rows, column.rows->length());
    }
    return arrow::Status::OK();
  }

  /// A batch of the first rows of all columns. What a column has more is for the next.
  std::shared_ptr<arrow::RecordBatch> TakeRows(int64_t num_rows) {
    arrow::ArrayVector arrays;
    for (auto& column : columns_) {
      const bool has_more = column.rows->length() > num_rows;
      arrays.push_back(has_more ? column.rows->Slice(0, num_rows) : column.rows);
      column.rows = has_more ? column.rows->Slice(num_rows) : nullptr;
      // Columns before one of long text need not be decoded further than it.
      if (has_more) batch_rows_ = num_rows;
    }
    return arrow::RecordBatch::Make(schema_, num_rows, std::move(arrays));
  }

  arrow::Status SkipTo(int64_t row) {
    for (auto& column : columns_) {
      if (column.decoder == nullptr) continue;
      ARROW_RETURN_NOT_OK(column.decoder->Skip(row - position_));
    }
    // Arrow cannot skip rows: they are read and dropped.
    while (others_ != nullptr && position_ < row) {
      ARROW_ASSIGN_OR_RAISE(const auto left_out, NextOthers(row - position_));
      position_ += left_out->num_rows();
    }
    position_ = row;
    return arrow::Status::OK();
  }

  // The next rows of the columns that Arrow reads: one of its batches, or a part of it.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextOthers(int64_t max_rows) {
    while (others_left_ == nullptr || others_left_->num_rows() == 0) {
      ARROW_RETURN_NOT_OK(CatchParquet([&] { return others_->ReadNext(&others_left_); }));
      if (others_left_ != nullptr) others_read_ += others_left_->num_rows();
      if (others_left_ == nullptr || others_read_ > group_->metadata()->num_rows()) {
        return arrow::Status::Invalid("A column has fewer rows than its row group");
      }
      ARROW_RETURN_NOT_OK(CheckValues(*others_left_));
    }
    auto next = others_left_->Slice(0, std::min(max_rows, others_left_->num_rows()));
    others_left_ = others_left_->Slice(next->num_rows());
    return next;
  }

  /// Arrow does not check what it decodes; our decoders do.
  static arrow::Status CheckValues(const arrow::RecordBatch& batch) {
    for (int i = 0; i < batch.num_columns(); ++i) {
      const auto valid = batch.column(i)->ValidateFull();
      if (!valid.ok()) {
        return valid.WithMessage("column '", batch.column_name(i),
                                 "': ", valid.message());
      }
    }
    return arrow::Status::OK();
  }

  struct Column {
    std::shared_ptr<arrow::Field> field;
    std::unique_ptr<FlatColumn> decoder;
    int other = -1;  // else its index in the batches of others_
    std::shared_ptr<arrow::Array> rows = nullptr;  // decoded, and not given
  };

  const std::shared_ptr<parquet::RowGroupReader> group_;
  int64_t batch_rows_;
  const int64_t text_bytes_;
  const RowRanges rows_;
  size_t range_ = 0;      // the one to read from next
  int64_t position_ = 0;  // the row to read next
  std::vector<Column> columns_;
  std::unique_ptr<arrow::RecordBatchReader> others_;
  std::shared_ptr<arrow::RecordBatch> others_left_;  // of the batch read last
  int64_t others_read_ = 0;                          // rows so far
  std::shared_ptr<arrow::Schema> schema_;
};

bool CanDecode(const parquet::RowGroupMetaData& group, const ParquetColumn& column) {
  if (!column.is_leaf) return false;
  const int leaf = column.leaves[0];
  return FlatColumn::CanDecode(*group.schema()->Column(leaf), *group.ColumnChunk(leaf),
                               *column.field->type());
}

/// The decoder of a column, or nullptr if Arrow has to read it.
std::unique_ptr<FlatColumn> MakeDecoder(parquet::RowGroupReader& group,
                                        const ParquetColumn& column,
                                        arrow::MemoryPool* pool) {
  if (!CanDecode(*group.metadata(), column)) return nullptr;
  const int leaf = column.leaves[0];
  return FlatColumn::Make(group.GetColumnPageReader(leaf),
                          *group.metadata()->schema()->Column(leaf), column.field->type(),
                          pool);
}

}  // namespace

arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ReadRowGroupBatches(
    parquet::arrow::FileReader* reader, const RowGroupRequest& request,
    arrow::MemoryPool* pool) {
  std::unique_ptr<RowGroupBatches> batches;
  std::vector<int> other_leaves;
  auto* const file = reader->parquet_reader();
  if (request.pre_buffer) {
    std::vector<int> leaves;
    for (const auto& column : request.columns) {
      leaves.insert(leaves.end(), column.leaves.begin(), column.leaves.end());
    }
    file->PreBuffer({request.row_group}, leaves, arrow::io::IOContext(pool),
                    arrow::io::CacheOptions::Defaults());
  }
  auto group = file->RowGroup(request.row_group);
  batches = std::make_unique<RowGroupBatches>(group, request);
  for (const auto& column : request.columns) {
    auto decoder = MakeDecoder(*group, column, pool);
    if (decoder == nullptr) {
      other_leaves.insert(other_leaves.end(), column.leaves.begin(), column.leaves.end());
    }
    batches->Add(column.field, std::move(decoder));
  }
  std::unique_ptr<arrow::RecordBatchReader> others;
  if (!other_leaves.empty()) {
    reader->set_batch_size(request.batch_rows);
    ARROW_ASSIGN_OR_RAISE(
        others, reader->GetRecordBatchReader({request.row_group}, other_leaves));
  }
  ARROW_RETURN_NOT_OK(batches->Finish(std::move(others)));
  return batches;
}

bool CanReadRanges(const parquet::RowGroupMetaData& group,
                   const std::vector<ParquetColumn>& columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [&](const auto& column) { return CanDecode(group, column); });
}

}  // namespace xshards::io
