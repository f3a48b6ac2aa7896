// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/type_traits.h>

#include "xshards/export.h"

namespace xshards {

/// The argument of a native function: the rows of a partition as one batch. Cheap to
/// copy. xshards/function/tensor_view.h gives xtensor views of its numeric columns.
class XSHARDS_EXPORT ShardView {
 public:
  explicit ShardView(std::shared_ptr<arrow::RecordBatch> batch)
      : batch_(std::move(batch)) {}

  const std::shared_ptr<arrow::RecordBatch>& batch() const { return batch_; }
  int64_t num_rows() const { return batch_->num_rows(); }
  const std::shared_ptr<arrow::Schema>& schema() const { return batch_->schema(); }
  /// KeyError lists the columns.
  arrow::Result<std::shared_ptr<arrow::Array>> column(const std::string& name) const;
  arrow::Result<std::shared_ptr<arrow::Table>> ToTable() const;

  /// A view of this shard with a column added or replaced.
  arrow::Result<ShardView> WithColumn(const std::string& name,
                                      const std::shared_ptr<arrow::Array>& values) const;

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
};

}  // namespace xshards
