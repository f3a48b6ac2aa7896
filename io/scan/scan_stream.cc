// SPDX-License-Identifier: Apache-2.0
#include "io/scan/scan_stream.h"

#include <algorithm>
#include <utility>

#include "io/options/quoted_names.h"

namespace xshards::io {
namespace {

class ScanStream final : public BatchStream {
 public:
  ScanStream(OpenSplit open, ScanNode scan, std::shared_ptr<arrow::Schema> schema,
             OperatorContext& context)
      : open_(std::move(open)),
        scan_(std::move(scan)),
        schema_(std::move(schema)),
        context_(context) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (!scan_.limit.has_value() || num_rows_ < *scan_.limit) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      if (current_ == nullptr) {
        if (next_split_ == scan_.splits.size()) return nullptr;
        ARROW_ASSIGN_OR_RAISE(
            current_, open_(scan_, scan_.splits[next_split_++], schema_, context_));
      }
      ARROW_ASSIGN_OR_RAISE(auto batch, current_->Next());
      if (batch == nullptr) {
        current_.reset();
        continue;
      }
      if (batch->num_rows() == 0) continue;
      if (scan_.limit.has_value()) {
        batch = batch->Slice(0, std::min(batch->num_rows(), *scan_.limit - num_rows_));
      }
      num_rows_ += batch->num_rows();
      context_.metrics->rows_read += batch->num_rows();
      return batch;
    }
    current_.reset();
    return nullptr;
  }

 private:
  const OpenSplit open_;
  const ScanNode scan_;
  const std::shared_ptr<arrow::Schema> schema_;
  OperatorContext& context_;
  std::unique_ptr<BatchStream> current_;
  size_t next_split_ = 0;
  int64_t num_rows_ = 0;
};

class OneBatch final : public BatchStream {
 public:
  OneBatch(std::shared_ptr<arrow::Schema> schema,
           std::function<arrow::Result<arrow::ArrayVector>()> look)
      : schema_(std::move(schema)), look_(std::move(look)) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (std::exchange(done_, true)) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto columns, look_());
    const int64_t num_rows = columns.empty() ? 0 : columns.front()->length();
    return arrow::RecordBatch::Make(schema_, num_rows, std::move(columns));
  }

 private:
  const std::shared_ptr<arrow::Schema> schema_;
  const std::function<arrow::Result<arrow::ArrayVector>()> look_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<BatchStream> MakeOneBatch(
    std::shared_ptr<arrow::Schema> schema,
    std::function<arrow::Result<arrow::ArrayVector>()> look) {
  return std::make_unique<OneBatch>(std::move(schema), std::move(look));
}

OpenNode MakeScan(OpenSplit open) {
  return [open = std::move(open)](
             const PlanNode& node, const BatchStreams& /*inputs*/,
             OperatorContext& context) -> arrow::Result<std::unique_ptr<BatchStream>> {
    const auto& scan = node.as<ScanNode>();
    ARROW_ASSIGN_OR_RAISE(auto schema, ProjectedSchema(scan));
    return std::make_unique<ScanStream>(open, scan, std::move(schema), context);
  };
}

arrow::Result<std::shared_ptr<arrow::Schema>> ProjectedSchema(const ScanNode& scan) {
  if (!scan.columns.has_value()) return scan.schema;
  return SelectFields(*scan.schema, *scan.columns);
}

arrow::Result<std::shared_ptr<arrow::Schema>> SelectFields(
    const arrow::Schema& schema, const std::vector<std::string>& columns) {
  arrow::FieldVector fields;
  for (const auto& name : columns) {
    auto field = schema.GetFieldByName(name);
    if (field == nullptr) {
      return arrow::Status::KeyError("No column '", name, "'; the files have ",
                                     QuotedNames(schema.field_names()));
    }
    fields.push_back(std::move(field));
  }
  return arrow::schema(std::move(fields));
}

}  // namespace xshards::io
