// SPDX-License-Identifier: Apache-2.0
#include "io/columnar/group_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include <arrow/array.h>
#include <arrow/type_traits.h>

#include "io/fs/file_system.h"
#include "xshards/catch_exceptions.h"
#include "xshards/types/conform.h"

namespace xshards::io {
namespace {

// About what a row of a column that the file lacks takes in memory.
constexpr int64_t kMissingBytes = 8;

class GroupStream final : public BatchStream {
 public:
  GroupStream(const Split& split, ReadGroup read, std::shared_ptr<arrow::Schema> schema,
              OperatorContext& context)
      : path_(split.path),
        read_(std::move(read)),
        schema_(std::move(schema)),
        context_(context),
        next_group_(split.begin),
        end_group_(split.end) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    // A batch may be of any size: it is returned in slices.
    while (current_ == nullptr || position_ == current_->num_rows()) {
      auto batch = CatchExceptions("Reading a file", [&] { return ReadBatch(); });
      if (!batch.ok()) return WithPath(batch.status(), "Could not read", path_);
      if (*batch == nullptr) return nullptr;
      current_ = batch.MoveValueUnsafe();
      position_ = 0;
      slice_rows_ = SliceRows(*current_);
    }
    auto slice = current_->Slice(position_, RowsOfSlice());
    position_ += slice->num_rows();
    auto rows = Conform(std::move(slice), schema_, context_.pool);
    if (!rows.ok()) return WithPath(rows.status(), "Could not read", path_);
    return rows;
  }

 private:
  /// The next batch of this group or the next one that has any; nullptr at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadBatch() {
    while (true) {
      if (group_ == nullptr) {
        if (next_group_ == end_group_) return nullptr;
        ARROW_ASSIGN_OR_RAISE(group_, read_(next_group_++));
      }
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(group_->ReadNext(&batch));
      if (batch == nullptr) {
        group_.reset();
        continue;
      }
      ARROW_RETURN_NOT_OK(batch->ValidateFull());
      return batch;
    }
  }

  /// The rows of a batch that take about the bytes of a slice, as they are in the file.
  int64_t SliceRows(const arrow::RecordBatch& batch) const {
    int64_t num_bytes = 0;
    for (const auto& column : batch.column_data()) {
      for (const auto& buffer : column->buffers) {
        num_bytes += buffer == nullptr ? 0 : buffer->size();
      }
    }
    const int64_t num_slices = num_bytes / context_.batch_bytes + 1;
    const int64_t num_rows =
        std::max<int64_t>(1, (batch.num_rows() + num_slices - 1) / num_slices);
    // Columns that the file lacks take no bytes there.
    const auto is_missing = [&](const auto& field) {
      return batch.schema()->GetAllFieldIndices(field->name()).empty();
    };
    const auto missing = std::ranges::count_if(schema_->fields(), is_missing);
    if (missing == 0) return num_rows;
    return std::clamp<int64_t>(context_.batch_bytes / (kMissingBytes * missing), 1,
                               num_rows);
  }

  /// The rows of the next slice: fewer where Conform() will decode indices of long texts.
  int64_t RowsOfSlice() const {
    int64_t num_rows = std::min(slice_rows_, current_->num_rows() - position_);
    for (const auto& field : schema_->fields()) {
      const auto column = current_->GetColumnByName(field->name());
      if (column == nullptr || column->type_id() != arrow::Type::DICTIONARY ||
          field->type()->id() == arrow::Type::DICTIONARY) {
        continue;
      }
      const auto& encoded = static_cast<const arrow::DictionaryArray&>(*column);
      const auto& values = *encoded.dictionary();
      if (arrow::is_large_binary_like(values.type_id())) {
        num_rows = RowsOfText<arrow::LargeBinaryArray>(encoded, num_rows);
      } else if (arrow::is_binary_like(values.type_id())) {
        num_rows = RowsOfText<arrow::BinaryArray>(encoded, num_rows);
      }
    }
    return num_rows;
  }

  /// The next rows, at most `num_rows`, whose texts have the bytes of a slice; at
  /// least 1.
  template <typename Texts>
  int64_t RowsOfText(const arrow::DictionaryArray& encoded, int64_t num_rows) const {
    const auto& texts = static_cast<const Texts&>(*encoded.dictionary());
    int64_t bytes_left = context_.batch_bytes;
    for (int64_t i = 0; i < num_rows; ++i) {
      if (encoded.IsNull(position_ + i)) continue;
      bytes_left -= texts.value_length(encoded.GetValueIndex(position_ + i));
      if (bytes_left < 0) return std::max<int64_t>(1, i);
    }
    return num_rows;
  }

  const std::string path_;
  const ReadGroup read_;
  const std::shared_ptr<arrow::Schema> schema_;
  OperatorContext& context_;
  int64_t next_group_;
  const int64_t end_group_;
  std::shared_ptr<arrow::RecordBatchReader> group_;
  std::shared_ptr<arrow::RecordBatch> current_;
  int64_t position_ = 0;    // of the next slice in current_
  int64_t slice_rows_ = 0;  // of current_
};

}  // namespace

std::unique_ptr<BatchStream> MakeGroupStream(const Split& split, ReadGroup read,
                                             std::shared_ptr<arrow::Schema> schema,
                                             OperatorContext& context) {
  return std::make_unique<GroupStream>(split, std::move(read), std::move(schema),
                                       context);
}

}  // namespace xshards::io
