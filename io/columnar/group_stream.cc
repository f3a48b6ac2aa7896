// SPDX-License-Identifier: Apache-2.0
#include "io/columnar/group_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "io/fs/file_system.h"
#include "xshards/catch_exceptions.h"
#include "xshards/types/conform.h"

namespace xshards::io {
namespace {

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
    auto slice = current_->Slice(position_, slice_rows_);
    position_ += slice->num_rows();
    return slice;
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
      return Conform(std::move(batch), schema_, context_.pool);
    }
  }

  int64_t SliceRows(const arrow::RecordBatch& batch) const {
    int64_t num_bytes = 0;
    for (const auto& column : batch.column_data()) {
      for (const auto& buffer : column->buffers) {
        num_bytes += buffer == nullptr ? 0 : buffer->size();
      }
    }
    const int64_t num_slices = num_bytes / context_.batch_bytes + 1;
    return std::max<int64_t>(1, (batch.num_rows() + num_slices - 1) / num_slices);
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
