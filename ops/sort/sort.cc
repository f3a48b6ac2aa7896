// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "ops/executors.h"
#include "ops/keys/key_columns.h"
#include "ops/sort/merge.h"
#include "ops/sort/run.h"
#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"
#include "xshards/storage/partition.h"
#include "xshards/types/row_bytes.h"

namespace xshards::ops {

namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
// The share of the budget sorted at once: with its copy, on a few threads, it fits.
constexpr int64_t kRunsInBudget = 12;
// A merge holds a batch of each run.
constexpr size_t kMaxRuns = 48;
// Candidate rows are collected up to this multiple of the limit.
constexpr int64_t kSpareFactor = 8;
constexpr int64_t kMinSpareRows = 4096;

class SortStream final : public UnaryStream {
 public:
  SortStream(SortNode node, std::unique_ptr<BatchStream> input, OperatorContext& context)
      : UnaryStream(std::move(input), context), node_(std::move(node)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    if (sorted_ == nullptr) {
      ARROW_RETURN_NOT_OK(node_.limit ? CollectBest() : CollectRuns());
      if (!prepared()) return nullptr;
    }
    ARROW_RETURN_NOT_OK(MakeRoom(context_));
    return sorted_->Next();
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    if (node_.keys.empty()) {
      return arrow::Status::Invalid("Expected 1 or more columns to sort by, got 0");
    }
    for (const auto& key : node_.keys) {
      ARROW_RETURN_NOT_OK(FindColumns(*input, {key.column}).status());
    }
    return input;
  }

 private:
  /// Sort as many rows as fit in memory; if that is not all, keep them as a run, which
  /// may be spilled, and merge the runs.
  arrow::Status CollectRuns() {
    const int64_t run_bytes = context_.storage.budget->limit() / kRunsInBudget;
    while (true) {
      ARROW_RETURN_NOT_OK(MakeRoom(context_));
      ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
      if (batch == nullptr) break;
      if (batch->num_rows() == 0) continue;
      pending_bytes_ += RowBytes(*batch);
      pending_rows_ += batch->num_rows();
      pending_.push_back(std::move(batch));
      if (pending_bytes_ > run_bytes) ARROW_RETURN_NOT_OK(EndRun());
    }
    if (runs_.empty()) {
      ARROW_ASSIGN_OR_RAISE(auto rows, SortPending(kNoLimit));
      sorted_ = std::make_unique<VectorStream>(schema_, std::move(rows));
      return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(EndRun());
    ARROW_ASSIGN_OR_RAISE(sorted_, Merged());
    return arrow::Status::OK();
  }

  arrow::Status EndRun() {
    ARROW_ASSIGN_OR_RAISE(auto rows, SortPending(kNoLimit));
    if (rows.empty()) return arrow::Status::OK();
    VectorStream stream(schema_, std::move(rows));
    ARROW_RETURN_NOT_OK(AddRun(stream));
    if (runs_.size() < kMaxRuns) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto merged, Merged());
    runs_.clear();
    return AddRun(*merged);
  }

  arrow::Status AddRun(BatchStream& rows) {
    BlockWriter writer(context_.storage, Storage::kHeap);
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, rows.Next());
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(writer.Append(0, std::move(batch)));
    }
    ARROW_ASSIGN_OR_RAISE(auto store, writer.Finish());
    runs_.push_back(Partition({std::move(store)}, 0));
    return arrow::Status::OK();
  }

  arrow::Result<std::unique_ptr<BatchStream>> Merged() {
    std::vector<std::unique_ptr<BatchStream>> streams;
    for (const auto& run : runs_) {
      ARROW_ASSIGN_OR_RAISE(auto stream, run.Open(schema_, context_.pool));
      streams.push_back(std::move(stream));
    }
    return MergeRuns(std::move(streams), node_, schema_, context_);
  }

  /// Keep the first `limit` rows of every batch and of those kept so far.
  arrow::Status CollectBest() {
    const int64_t limit = *node_.limit;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
      if (batch == nullptr) break;
      if (batch->num_rows() > limit) {
        ARROW_ASSIGN_OR_RAISE(auto best, SortRows({batch}, node_, limit, context_));
        Add(std::move(best));
      } else if (batch->num_rows() > 0) {
        Add({std::move(batch)});
      }
      if (pending_rows_ / kSpareFactor > std::max(limit, kMinSpareRows)) {
        ARROW_ASSIGN_OR_RAISE(auto best, SortPending(limit));
        Add(std::move(best));
      }
    }
    ARROW_ASSIGN_OR_RAISE(auto best, SortPending(limit));
    sorted_ = std::make_unique<VectorStream>(schema_, std::move(best));
    return arrow::Status::OK();
  }

  void Add(arrow::RecordBatchVector batches) {
    for (auto& batch : batches) {
      pending_rows_ += batch->num_rows();
      pending_.push_back(std::move(batch));
    }
  }

  arrow::Result<arrow::RecordBatchVector> SortPending(int64_t limit) {
    const auto rows = std::exchange(pending_, {});
    pending_bytes_ = 0;
    pending_rows_ = 0;
    return SortRows(rows, node_, limit, context_);
  }

  const SortNode node_;
  arrow::RecordBatchVector pending_;  // not sorted yet
  int64_t pending_bytes_ = 0;
  int64_t pending_rows_ = 0;
  std::vector<Partition> runs_;  // in order of the rows they came from
  std::unique_ptr<BatchStream> sorted_;
};

}  // namespace

OpenedNode OpenSort(const PlanNode& node, BatchStreams inputs, OperatorContext& context) {
  return OpenUnary<SortStream, SortNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
