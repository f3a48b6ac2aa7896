// SPDX-License-Identifier: Apache-2.0
#include "ops/join/build_side.h"

#include <chrono>
#include <utility>

#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>

#include "ops/join/hash_table.h"
#include "ops/stream/batch_slicing.h"
#include "xshards/types/row_bytes.h"

namespace xshards::ops {

namespace {

// How often a waiting thread checks whether to stop.
constexpr auto kWait = std::chrono::milliseconds(20);

}  // namespace

arrow::Result<std::shared_ptr<const HeldRows>> JoinBuild::Get(
    Input& input, const OperatorContext& context) {
  std::unique_lock lock(mutex_);
  while (failure_.ok() && !is_done_) {
    if (next_task_ < tasks_.size()) {
      const Task task = tasks_[next_task_++];
      ++num_running_;
      lock.unlock();
      arrow::Status status = task(input, context);
      lock.lock();
      --num_running_;
      if (!status.ok() && failure_.ok()) failure_ = std::move(status);
      changed_.notify_all();
    } else if (num_running_ == 0) {
      failure_ = StartStep();
      changed_.notify_all();
    } else {
      changed_.wait_for(lock, kWait);
      ARROW_RETURN_NOT_OK(context.stop.Poll());
    }
  }
  ARROW_RETURN_NOT_OK(failure_);
  return held_;
}

arrow::Status JoinBuild::StartStep() {
  tasks_.clear();
  next_task_ = 0;
  switch (step_) {
    case Step::kNone:
      step_ = Step::kRead;
      AddTask([this](Input& input, const OperatorContext& context) {
        return ReadRows(input, context);
      });
      return arrow::Status::OK();
    case Step::kRead:
      step_ = Step::kOrder;
      ordered_ = TryToOrder();
      return arrow::Status::OK();
    case Step::kOrder:
      return GoOnOrdering();
    case Step::kJoinColumns:
      step_ = Step::kFillTable;
      AddTask([this](Input&, const OperatorContext&) { return MakeTable(); });
      return arrow::Status::OK();
    case Step::kFillTable:
      ARROW_ASSIGN_OR_RAISE(const bool goes_on, AddTasksOf(*held_));
      is_done_ = !goes_on;
      return arrow::Status::OK();
  }
  return arrow::Status::OK();
}

arrow::Status JoinBuild::GoOnOrdering() {
  if (ordered_ != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const bool goes_on, AddTasksOf(*ordered_));
    if (goes_on) return arrow::Status::OK();
    is_done_ = ordered_->is_made();
  }
  if (is_done_) {
    held_ = std::move(ordered_);
    batches_.clear();
    return arrow::Status::OK();
  }
  ordered_ = nullptr;
  step_ = Step::kJoinColumns;
  for (size_t i = 0; i < columns_.size(); ++i) {
    AddTask([this, i](Input&, const OperatorContext&) { return JoinColumn(i); });
  }
  return arrow::Status::OK();
}

arrow::Result<bool> JoinBuild::AddTasksOf(HeldRows& rows) {
  ARROW_ASSIGN_OR_RAISE(const size_t num_tasks, rows.StartStep());
  for (size_t i = 0; i < num_tasks; ++i) {
    AddTask([&rows, i](Input&, const OperatorContext&) { return rows.RunTask(i); });
  }
  return num_tasks > 0;
}

std::shared_ptr<OrderedRows> JoinBuild::TryToOrder() const {
  if (spec_.kind != JoinKeyKind::kWord || !spec_.taken.has_value()) return nullptr;
  return OrderedRows::Make(batches_, spec_.keys[0], *spec_.taken, pool_);
}

arrow::Status JoinBuild::ReadRows(Input& input, const OperatorContext& context) {
  int64_t bytes = 0;
  while (true) {
    ARROW_RETURN_NOT_OK(MakeRoom(context));
    auto batch = std::move(next_batch_);
    if (batch == nullptr) {
      ARROW_ASSIGN_OR_RAISE(batch, input.Next());
      if (batch == nullptr) break;
    }
    if (batch->num_rows() == 0) continue;
    if (bytes > spec_.max_bytes) {
      next_batch_ = std::move(batch);
      break;
    }
    bytes += RowBytes(*batch);
    num_rows_ += batch->num_rows();
    batches_.push_back(std::move(batch));
  }
  schema_ = batches_.empty() ? input.schema() : batches_[0]->schema();
  columns_.resize(static_cast<size_t>(schema_->num_fields()));
  return arrow::Status::OK();
}

arrow::Status JoinBuild::JoinColumn(size_t column) {
  const auto i = static_cast<int>(column);
  if (batches_.empty()) {
    return arrow::MakeEmptyArray(schema_->field(i)->type(), pool_)
        .Value(&columns_[column]);
  }
  if (batches_.size() == 1) {
    columns_[column] = batches_[0]->column(i);
    return arrow::Status::OK();
  }
  arrow::ArrayVector pieces;
  for (const auto& batch : batches_) pieces.push_back(batch->column(i));
  return arrow::Concatenate(pieces, pool_).Value(&columns_[column]);
}

arrow::Status JoinBuild::MakeTable() {
  batches_.clear();
  auto rows = arrow::RecordBatch::Make(schema_, num_rows_, std::move(columns_));
  ARROW_ASSIGN_OR_RAISE(held_,
                        JoinTable::Make(std::move(rows), spec_.keys, spec_.kind, pool_));
  return arrow::Status::OK();
}

}  // namespace xshards::ops
