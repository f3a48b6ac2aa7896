// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "ops/join/build_rows.h"
#include "ops/join/join_keys.h"
#include "ops/join/perfect_hash_rows.h"
#include "ops/stream/unary_stream.h"
#include "xshards/execution/fragments/operator_table.h"

namespace xshards::ops {

/// Builds the lookup structure of a join's build side: OrderedRows if the keys are dense
/// integers, else a JoinTable. Every thread that needs it helps to build it: reads the
/// rows, moves them, fills parts. Must outlive the rows.
class JoinBuild {
 public:
  struct Spec {
    std::vector<int> keys;
    JoinKeyKind kind = JoinKeyKind::kNone;
    int64_t max_bytes = 0;  // of the input, approximately
    /// If set, only these columns are kept, and rows may be in any order.
    std::optional<std::vector<int>> taken{};
  };

  JoinBuild(Spec spec, const OperatorContext& context)
      : spec_(std::move(spec)), pool_(context.pool) {}

  /// Help until the rows are built. All callers must pass inputs of the same rows; only
  /// one of them is read. Waits for other threads, unless `context` is told to stop.
  arrow::Result<std::shared_ptr<const HeldRows>> Get(Input& input,
                                                     const OperatorContext& context);
  /// True if the input has more rows than fit; known once Get has returned.
  bool has_more() const { return next_batch_ != nullptr; }
  /// The first batch that did not fit.
  std::shared_ptr<arrow::RecordBatch> TakeNextBatch() { return std::move(next_batch_); }
  /// Begin with the batch that did not fit into another build.
  void StartWith(std::shared_ptr<arrow::RecordBatch> batch) {
    next_batch_ = std::move(batch);
  }

 private:
  using Task = std::function<arrow::Status(Input&, const OperatorContext&)>;

  enum class Step : uint8_t { kNone, kRead, kOrder, kJoinColumns, kFillTable };

  /// Set the tasks of the next step, which can run concurrently. Called with the lock
  /// held.
  arrow::Status StartStep();
  /// The next step of ordering the rows, or of the table if they cannot be ordered.
  arrow::Status GoOnOrdering();
  void AddTask(Task task) { tasks_.push_back(std::move(task)); }
  /// Add the tasks of the rows' own next step; false after the last.
  arrow::Result<bool> AddTasksOf(HeldRows& rows);
  std::shared_ptr<OrderedRows> TryToOrder() const;
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
  std::shared_ptr<OrderedRows> ordered_;
  std::shared_ptr<HeldRows> held_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Step step_ = Step::kNone;
  std::vector<Task> tasks_;  // of this step
  size_t next_task_ = 0;
  size_t num_running_ = 0;
  arrow::Status failure_;
  bool is_done_ = false;
};

}  // namespace xshards::ops
