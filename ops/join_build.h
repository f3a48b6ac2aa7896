// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "ops/join_table.h"
#include "ops/unary_stream.h"
#include "xshards/operator_table.h"

namespace xshards::ops {

/// Makes the table of the side of a join that is held. Every thread that asks for the
/// table helps to make it: reads the rows, joins their columns, fills the parts. Lives as
/// long as the table is used.
class JoinBuild {
 public:
  /// What the table is made of: at most about `max_bytes` of the input.
  struct Spec {
    std::vector<int> keys;
    JoinKeyKind kind = JoinKeyKind::kNone;
    int64_t max_bytes = 0;
  };

  JoinBuild(Spec spec, const OperatorContext& context)
      : spec_(std::move(spec)), pool_(context.pool) {}

  /// Help until the table is there. All who call must give inputs of the same rows; only
  /// one of them is read. Waits for others, unless `context` is told to stop.
  arrow::Result<std::shared_ptr<const JoinTable>> Get(Input& input,
                                                      const OperatorContext& context);
  /// True if the input had more rows than fitted; known once the table is there.
  bool has_more() const { return next_batch_ != nullptr; }
  /// The first batch that did not fit.
  std::shared_ptr<arrow::RecordBatch> TakeNextBatch() { return std::move(next_batch_); }
  /// Begin with a batch that another did not hold any more.
  void StartWith(std::shared_ptr<arrow::RecordBatch> batch) {
    next_batch_ = std::move(batch);
  }

 private:
  using Task = std::function<arrow::Status(Input&, const OperatorContext&)>;

  /// The tasks of the next step, which can be done at the same time. Called with the
  /// lock.
  void StartStep();
  arrow::Status ReadRows(Input& input, const OperatorContext& context);
  arrow::Status JoinColumn(size_t column);
  arrow::Status MakeTable();

  const Spec spec_;
  arrow::MemoryPool* const pool_;
  std::shared_ptr<arrow::RecordBatch> next_batch_;
  arrow::RecordBatchVector batches_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::ArrayVector columns_;
  int64_t num_rows_ = 0;
  std::shared_ptr<JoinTable> table_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  int step_ = 0;
  std::vector<Task> tasks_;  // of this step
  size_t next_task_ = 0;
  size_t num_running_ = 0;
  arrow::Status failure_;
  bool is_done_ = false;
};

}  // namespace xshards::ops
