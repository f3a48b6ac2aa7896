// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/compute/initialize.h>
#include <arrow/record_batch.h>

#include "benchmarks/random_rows.h"
#include "benchmarks/temporary_storage.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::bench {

/// Runs executors over batches in memory, as a fragment does.
class OperatorRun {
 public:
  OperatorRun() {
    Check(arrow::compute::Initialize());
    context_.pool = storage_.budget.pool();
    context_.storage = storage_.environment();
    context_.metrics = &metrics_;
  }

  OperatorContext& context() { return context_; }
  arrow::MemoryPool* pool() { return context_.pool; }

  /// A stream of the rows in batches of `rows_each`, as a scan would give them.
  static std::unique_ptr<BatchStream> Stream(
      const std::shared_ptr<arrow::RecordBatch>& rows, int64_t rows_each = 1 << 15) {
    arrow::RecordBatchVector batches;
    for (int64_t i = 0; i < rows->num_rows(); i += rows_each) {
      batches.push_back(rows->Slice(i, rows_each));
    }
    return std::make_unique<VectorStream>(rows->schema(), std::move(batches));
  }

  /// All batches that a node makes of its inputs.
  template <typename Open>
  arrow::RecordBatchVector Run(
      Open open, NodeVariant node,
      const std::vector<std::shared_ptr<arrow::RecordBatch>>& inputs) {
    BatchStreams streams;
    for (const auto& rows : inputs) streams.push_back(Stream(rows));
    const Plan plan = MakeNode(std::move(node));
    auto stream = Get(open(*plan, std::move(streams), context_));
    return Get(ReadAll(*stream));
  }

 private:
  TemporaryStorage storage_;
  FragmentMetrics metrics_;
  OperatorContext context_;
};

inline int64_t NumRows(const arrow::RecordBatchVector& batches) {
  int64_t rows = 0;
  for (const auto& batch : batches) rows += batch->num_rows();
  return rows;
}

}  // namespace xshards::bench
