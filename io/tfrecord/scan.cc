// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/scan.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/array/validate.h>

#include "io/fs/file_system.h"
#include "io/options/option_codec.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/text/type_mismatch_location.h"
#include "io/tfrecord/feature_columns.h"
#include "io/tfrecord/framing.h"
#include "io/tfrecord/options.h"
#include "io/tfrecord/scan_options.h"
#include "xshards/types/conform.h"

namespace xshards::io {
namespace {

/// Converts the data of records to rows.
class RecordRows {
 public:
  virtual ~RecordRows() = default;
  /// Append the data of a record that begins at this byte of the split.
  virtual arrow::Status Append(std::string_view data, int64_t position) = 0;
  virtual int64_t num_rows() const = 0;
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish() = 0;
};

class RawRows final : public RecordRows {
 public:
  RawRows(bool is_wanted, arrow::MemoryPool* pool)
      : is_wanted_(is_wanted), builder_(pool) {}

  arrow::Status Append(std::string_view data, int64_t /*position*/) override {
    ++num_rows_;
    return is_wanted_ ? builder_.Append(data) : arrow::Status::OK();
  }
  int64_t num_rows() const override { return num_rows_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish() override {
    const int64_t num_rows = std::exchange(num_rows_, 0);
    if (!is_wanted_)
      return arrow::RecordBatch::Make(arrow::schema({}), num_rows, arrow::ArrayVector{});
    ARROW_ASSIGN_OR_RAISE(auto records, builder_.Finish());
    return arrow::RecordBatch::Make(
        arrow::schema({arrow::field(kRawRecordColumn, records->type())}), num_rows,
        {records});
  }

 private:
  const bool is_wanted_;
  arrow::LargeBinaryBuilder builder_;
  int64_t num_rows_ = 0;
};

class ExampleRows final : public RecordRows {
 public:
  ExampleRows(const Split& split, const arrow::Schema& known, const arrow::Schema& wanted,
              bool inferred, arrow::MemoryPool* pool)
      : path_(split.path),
        begin_(split.begin),
        inferred_(inferred),
        columns_(known, wanted, inferred, pool) {}

  arrow::Status Append(std::string_view data, int64_t position) override {
    const auto fault = columns_.Append(data);
    return fault.has_value() ? Explain(*fault, position) : arrow::Status::OK();
  }
  int64_t num_rows() const override { return columns_.num_rows(); }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish() override {
    return columns_.Finish();
  }

 private:
  using Fault = FeatureColumns::Fault;

  arrow::Status Explain(const Fault& fault, int64_t position) const {
    const std::string place =
        "The record at byte " + std::to_string(begin_ + position) + " of '" + path_ + "'";
    switch (fault.kind) {
      case Fault::kDamaged:
        return arrow::Status::Invalid(
            place, " is not a tf.train.Example: read its bytes with raw=True");
      case Fault::kSequence:
        return arrow::Status::NotImplemented(
            place, " is a tf.train.SequenceExample: read its bytes with raw=True");
      case Fault::kTooManyValues:
        return arrow::Status::CapacityError(place, ": feature '", fault.feature,
                                            "' has more values than a list can hold");
      case Fault::kNoMemory:
        return arrow::Status::OutOfMemory(place, " has more values than memory allows");
      case Fault::kUnknown:
      case Fault::kMismatch:
        break;
    }
    if (inferred_) return TypeMismatchAt("", fault.feature, path_, {begin_, position});
    return arrow::Status::Invalid(place, ": feature '", fault.feature, "' ", fault.text,
                                  ", which does not fit the type of its column; set "
                                  "another type in schema, or read with raw=True");
  }

  const std::string path_;
  const int64_t begin_;
  const bool inferred_;
  FeatureColumns columns_;
};

class TfRecordStream final : public BatchStream {
 public:
  TfRecordStream(std::string path, RecordInput input, std::unique_ptr<RecordRows> rows,
                 int64_t max_rows, std::shared_ptr<arrow::Schema> schema,
                 OperatorContext& context)
      : path_(std::move(path)),
        input_(std::move(input)),
        rows_(std::move(rows)),
        rows_left_(max_rows),
        schema_(std::move(schema)),
        context_(context) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    int64_t num_bytes = 0;
    while (num_bytes < context_.batch_bytes && rows_->num_rows() < rows_left_) {
      if (input_.is_at_block_end()) ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_ASSIGN_OR_RAISE(const auto record, input_.Next());
      if (!record.has_value()) {
        rows_left_ = rows_->num_rows();
        break;
      }
      ARROW_RETURN_NOT_OK(rows_->Append(*record, input_.position()));
      num_bytes += static_cast<int64_t>(record->size());
    }
    ARROW_RETURN_NOT_OK(CountBytes());
    if (rows_->num_rows() == 0) return nullptr;
    rows_left_ -= rows_->num_rows();
    ARROW_ASSIGN_OR_RAISE(auto batch, rows_->Finish());
    auto conformed = Conform(std::move(batch), schema_, context_.pool);
    if (!conformed.ok()) return WithPath(conformed.status(), "Could not read", path_);
    return conformed;
  }

 private:
  arrow::Status CountBytes() {
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes_read, input_.BytesRead());
    context_.metrics->bytes_read += bytes_read - counted_;
    counted_ = bytes_read;
    return arrow::Status::OK();
  }

  const std::string path_;
  RecordInput input_;
  const std::unique_ptr<RecordRows> rows_;
  int64_t rows_left_;  // still to read
  const std::shared_ptr<arrow::Schema> schema_;
  OperatorContext& context_;
  int64_t counted_ = 0;  // bytes already in the metrics
};

arrow::Result<std::unique_ptr<BatchStream>> OpenTfRecordSplit(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<TfRecordScanOptions>(scan.options));
  ARROW_ASSIGN_OR_RAISE(
      auto input,
      RecordInput::Open(split, options->tfrecord.compression,
                        TextBlockBytes(split.path, scan.limit), context.pool));
  std::unique_ptr<RecordRows> rows;
  if (options->tfrecord.raw) {
    rows = std::make_unique<RawRows>(schema->num_fields() > 0, context.pool);
  } else {
    const auto known = FileSchema(scan);
    rows = std::make_unique<ExampleRows>(split, *known, *schema, scan.inferred,
                                         context.pool);
  }
  return std::make_unique<TfRecordStream>(
      split.path, std::move(input), std::move(rows),
      scan.limit.value_or(std::numeric_limits<int64_t>::max()), schema, context);
}

}  // namespace

OpenNode MakeTfRecordScan() { return MakeScan(WithHiveColumns(OpenTfRecordSplit)); }

}  // namespace xshards::io
