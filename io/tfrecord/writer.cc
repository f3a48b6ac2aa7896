// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/writer.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/cast.h>

#include "io/tfrecord/example.h"
#include "io/tfrecord/feature_columns.h"
#include "io/tfrecord/framing.h"

namespace xshards::io {
namespace {

constexpr size_t kFlushBytes = 1 << 20;

/// The values of a column in the types of features, and the offsets of rows.
struct WritableColumn {
  std::shared_ptr<arrow::Array> rows;
  std::shared_ptr<arrow::Array> values;
  const int32_t* offsets = nullptr;  // of lists
};

class TfRecordWriter final : public FileWriter {
 public:
  TfRecordWriter(std::shared_ptr<arrow::Schema> schema,
                 std::shared_ptr<arrow::io::OutputStream> file, arrow::MemoryPool* pool)
      : schema_(std::move(schema)), file_(std::move(file)), pool_(pool) {
    for (const auto& field : schema_->fields()) {
      forms_.push_back(FormFor(*field->type()).value_or(FeatureForm{}));
    }
  }

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    std::vector<WritableColumn> columns;
    for (int i = 0; i < batch.num_columns(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto column, Prepare(batch.column(i), i));
      columns.push_back(std::move(column));
    }
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      for (size_t i = 0; i < columns.size(); ++i) AddFeature(columns[i], i, row);
      AppendRecord(example_.Finish(), &bytes_);
      if (bytes_.size() >= kFlushBytes) ARROW_RETURN_NOT_OK(Release());
    }
    return arrow::Status::OK();
  }

  arrow::Status Finish() override { return Release(); }
  int64_t held_bytes() const override { return static_cast<int64_t>(bytes_.capacity()); }
  arrow::Status Release() override {
    ARROW_RETURN_NOT_OK(file_->Write(bytes_));
    bytes_.clear();
    return arrow::Status::OK();
  }

 private:
  arrow::Result<WritableColumn> Prepare(const std::shared_ptr<arrow::Array>& array,
                                        int index) const {
    const FeatureForm form = forms_[static_cast<size_t>(index)];
    const auto options = arrow::compute::CastOptions::Safe(form.type());
    arrow::compute::CastOptions cast = options;
    // Features have no doubles.
    cast.allow_float_truncate = true;
    arrow::compute::ExecContext context(pool_);
    context.set_use_threads(false);
    auto rows = arrow::compute::Cast(*array, form.type(), cast, &context);
    if (!rows.ok()) {
      return rows.status().WithMessage("Column '", schema_->field(index)->name(),
                                       "' cannot be written as features of ",
                                       ToString(form.kind), ": ",
                                       rows.status().message());
    }
    WritableColumn column{.rows = *rows, .values = *rows};
    if (form.is_list) {
      const auto& lists = static_cast<const arrow::ListArray&>(**rows);
      column.values = lists.values();
      column.offsets = lists.raw_value_offsets();
      if (lists.values()->null_count() > 0) {
        return arrow::Status::Invalid("Column '", schema_->field(index)->name(),
                                      "' has missing values inside lists, which "
                                      "features cannot hold: fill or drop them");
      }
    }
    return column;
  }

  void AddFeature(const WritableColumn& column, size_t index, int64_t row) {
    if (column.rows->IsNull(row)) return;
    const std::string& name = schema_->field(static_cast<int>(index))->name();
    const int64_t begin = column.offsets == nullptr ? row : column.offsets[row];
    const int64_t end = column.offsets == nullptr ? row + 1 : column.offsets[row + 1];
    switch (forms_[index].kind) {
      case FeatureKind::kInt64: {
        const auto& values = static_cast<const arrow::Int64Array&>(*column.values);
        example_.AddInt64(name, values.raw_values() + begin, end - begin);
        break;
      }
      case FeatureKind::kFloat: {
        const auto& values = static_cast<const arrow::FloatArray&>(*column.values);
        example_.AddFloats(name, values.raw_values() + begin, end - begin);
        break;
      }
      default: {
        const auto& values = static_cast<const arrow::LargeBinaryArray&>(*column.values);
        texts_.clear();
        for (int64_t i = begin; i < end; ++i) texts_.push_back(values.GetView(i));
        example_.AddBytes(name, texts_.data(), end - begin);
      }
    }
  }

  const std::shared_ptr<arrow::Schema> schema_;
  const std::shared_ptr<arrow::io::OutputStream> file_;
  arrow::MemoryPool* const pool_;
  std::vector<FeatureForm> forms_;
  ExampleBuilder example_;
  std::vector<std::string_view> texts_;
  std::string bytes_;  // written, not yet in the file
};

}  // namespace

arrow::Result<std::unique_ptr<FileWriter>> OpenTfRecordWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const NoOptions& /*options*/,
    arrow::MemoryPool* pool) {
  for (const auto& field : schema->fields()) {
    if (FormFor(*field->type()).has_value()) continue;
    return arrow::Status::TypeError("TFRecord cannot hold column '", field->name(),
                                    "' of ", field->type()->ToString(),
                                    "; write Parquet or IPC");
  }
  return std::make_unique<TfRecordWriter>(schema, file, pool);
}

}  // namespace xshards::io
