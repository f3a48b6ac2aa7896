// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards {

/// Pulls the batches of one partition, in order, on one thread.
///
/// Batches are bounded (see OperatorContext::batch_bytes) and owned by the caller once
/// returned. A stream is used by one thread at a time and dropped when no longer needed;
/// dropping it early is how a consumer such as Limit stops its producers.
class XSHARDS_EXPORT BatchStream {
 public:
  virtual ~BatchStream() = default;

  /// The schema of every batch; nullptr if it is only known at run time (a Python
  /// function's output before its first batch) or if the stream holds Tensors or Objects.
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;

  /// The next batch, or nullptr at the end. Not called again after nullptr or an error.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

/// A stream over batches that are already in memory.
class XSHARDS_EXPORT VectorStream final : public BatchStream {
 public:
  VectorStream(std::shared_ptr<arrow::Schema> schema, arrow::RecordBatchVector batches)
      : schema_(std::move(schema)), batches_(std::move(batches)) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override;

 private:
  std::shared_ptr<arrow::Schema> schema_;
  arrow::RecordBatchVector batches_;
  size_t position_ = 0;
};

/// Drain a stream.
XSHARDS_EXPORT arrow::Result<arrow::RecordBatchVector> ReadAll(BatchStream& stream);

}  // namespace xshards
