// SPDX-License-Identifier: Apache-2.0
#include "ops/join_build.h"

#include <chrono>
#include <utility>

#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>

#include "ops/batches.h"

namespace xshards::ops {

namespace {

// How often a thread that waits looks whether it should stop.
constexpr auto kWait = std::chrono::milliseconds(20);

}  // namespace

arrow::Result<std::shared_ptr<const JoinTable>> JoinBuild::Get(
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
      StartStep();
      changed_.notify_all();
    } else {
      changed_.wait_for(lock, kWait);
      ARROW_RETURN_NOT_OK(context.stop.Poll());
    }
  }
  ARROW_RETURN_NOT_OK(failure_);
  return table_;
}

void JoinBuild::StartStep() {
  tasks_.clear();
  next_task_ = 0;
  switch (step_++) {
    case 0:
      tasks_.push_back([this](Input& input, const OperatorContext& context) {
        return ReadRows(input, context);
      });
      return;
    case 1:
      for (size_t i = 0; i < columns_.size(); ++i) {
        tasks_.push_back(
            [this, i](Input&, const OperatorContext&) { return JoinColumn(i); });
      }
      return;
    case 2:
      tasks_.push_back([this](Input&, const OperatorContext&) { return MakeTable(); });
      return;
    default:
      const size_t num_tasks = table_->StartStep();
      for (size_t i = 0; i < num_tasks; ++i) {
        tasks_.push_back([this, i](Input&, const OperatorContext&) {
          table_->RunTask(i);
          return arrow::Status::OK();
        });
      }
      is_done_ = num_tasks == 0;
  }
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
    bytes += NumBytes(*batch);
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
  ARROW_ASSIGN_OR_RAISE(table_,
                        JoinTable::Make(std::move(rows), spec_.keys, spec_.kind, pool_));
  return arrow::Status::OK();
}

}  // namespace xshards::ops
