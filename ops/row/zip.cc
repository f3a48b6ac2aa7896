// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "ops/executors.h"
#include "ops/stream/unary_stream.h"

namespace xshards::ops {

namespace {

/// One input, sliced to match the batches of the other.
class ZipSide {
 public:
  ZipSide(std::unique_ptr<BatchStream> stream, const OperatorContext& context)
      : input_(std::move(stream), context) {}

  const std::shared_ptr<arrow::Schema>& schema() const { return input_.schema(); }
  int64_t num_rows() const { return num_rows_; }
  int64_t available() const { return batch_ == nullptr ? 0 : batch_->num_rows(); }

  /// Make rows available, unless the input is at its end.
  arrow::Status Fill() {
    while (available() == 0) {
      ARROW_ASSIGN_OR_RAISE(batch_, input_.Next());
      if (batch_ == nullptr) break;
      num_rows_ += batch_->num_rows();
    }
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::RecordBatch> Take(int64_t count) {
    auto rows = batch_->Slice(0, count);
    batch_ = batch_->Slice(count);
    return rows;
  }

  /// Read to the end, for the count.
  arrow::Status Drain() {
    while (batch_ != nullptr) {
      batch_ = nullptr;
      ARROW_RETURN_NOT_OK(Fill());
    }
    return arrow::Status::OK();
  }

 private:
  Input input_;
  std::shared_ptr<arrow::RecordBatch> batch_;  // its remaining rows
  int64_t num_rows_ = 0;                       // read so far
};

class ZipStream final : public BatchStream {
 public:
  ZipStream(BatchStreams inputs, OperatorContext& context)
      : context_(context),
        left_(std::move(inputs.at(0)), context),
        right_(std::move(inputs.at(1)), context) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Status PrepareIfKnown() {
    if (schema_ != nullptr || left_.schema() == nullptr || right_.schema() == nullptr) {
      return arrow::Status::OK();
    }
    arrow::FieldVector fields = left_.schema()->fields();
    std::set<std::string> names;
    for (const auto& field : fields) names.insert(field->name());
    for (const auto& field : right_.schema()->fields()) {
      if (!names.insert(field->name()).second) {
        return arrow::Status::Invalid(
            "Expected the two sides of a zip to have columns of different names, but "
            "both have '",
            field->name(), "'");
      }
      fields.push_back(field);
    }
    schema_ = arrow::schema(std::move(fields), left_.schema()->metadata());
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_RETURN_NOT_OK(left_.Fill());
    ARROW_RETURN_NOT_OK(right_.Fill());
    ARROW_RETURN_NOT_OK(PrepareIfKnown());
    const int64_t count = std::min(left_.available(), right_.available());
    if (count == 0) {
      ARROW_RETURN_NOT_OK(CheckEqualLength());
      return nullptr;
    }
    auto left = left_.Take(count);
    auto right = right_.Take(count);
    arrow::ArrayVector columns = left->columns();
    for (const auto& column : right->columns()) columns.push_back(column);
    return arrow::RecordBatch::Make(schema_, count, std::move(columns));
  }

 private:
  arrow::Status CheckEqualLength() {
    ARROW_RETURN_NOT_OK(left_.Drain());
    ARROW_RETURN_NOT_OK(right_.Drain());
    if (left_.num_rows() == right_.num_rows()) return arrow::Status::OK();
    return arrow::Status::Invalid(
        "Expected the two sides of a zip to have the same number of rows, but partition ",
        context_.partition_index, " has ", left_.num_rows(), " on the left and ",
        right_.num_rows(), " on the right");
  }

  OperatorContext& context_;
  ZipSide left_;
  ZipSide right_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

OpenedNode OpenZip(const PlanNode&, BatchStreams inputs, OperatorContext& context) {
  auto stream = std::make_unique<ZipStream>(std::move(inputs), context);
  ARROW_RETURN_NOT_OK(stream->PrepareIfKnown());
  return stream;
}

}  // namespace xshards::ops
