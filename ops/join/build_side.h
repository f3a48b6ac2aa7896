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
#include "xshards/execution/operator_table.h"

namespace xshards::ops {

/// Makes what finds the rows of the side of a join that is held: OrderedRows where the
/// rows are such, else a JoinTable. Every thread that asks for it helps to make it: reads
/// the rows, moves them, fills parts. Lives as long as they are used.
class JoinBuild {
 public:
  struct Spec {
    std::vector<int> keys;
    JoinKeyKind kind = JoinKeyKind::kNone;
    int64_t max_bytes = 0;  // of the input, about
    /// Set: only these columns are taken, of rows in any order.
    std::optional<std::vector<int>> taken{};
  };

  JoinBuild(Spec spec, const OperatorContext& context)
      : spec_(std::move(spec)), pool_(context.pool) {}

  /// Help until they are there. All who call must give inputs of the same rows; only
  /// one of them is read. Waits for others, unless `context` is told to stop.
  arrow::Result<std::shared_ptr<const HeldRows>> Get(Input& input,
                                                     const OperatorContext& context);
  /// True if the input had more rows than fitted; known once the others are there.
  bool has_more() const { return next_batch_ != nullptr; }
  /// The first batch that did not fit.
  std::shared_ptr<arrow::RecordBatch> TakeNextBatch() { return std::move(next_batch_); }
  /// Begin with a batch that another did not hold any more.
  void StartWith(std::shared_ptr<arrow::RecordBatch> batch) {
    next_batch_ = std::move(batch);
  }

 private:
  using Task = std::function<arrow::Status(Input&, const OperatorContext&)>;

  enum class Step : uint8_t { kNone, kRead, kOrder, kJoinColumns, kFillTable };

  /// Set the tasks of the next step, which can be done at the same time. Called with the
  /// lock.
  arrow::Status StartStep();
  /// The next step of ordering the rows, or, if they can't be ordered, of a table.
  arrow::Status GoOnOrdering();
  void AddTask(Task task) { tasks_.push_back(std::move(task)); }
  /// Add the tasks of what is made in steps of its own; false after its last.
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
