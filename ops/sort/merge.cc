// SPDX-License-Identifier: Apache-2.0
#include "ops/sort/merge.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ops/sort/comparator.h"
#include "ops/sort/order.h"
#include "ops/sort/run.h"
#include "ops/stream/batch_slicing.h"

namespace xshards::ops {

namespace {

/// A run and the batch of it that is being merged.
struct Run {
  std::unique_ptr<BatchStream> stream;
  std::shared_ptr<arrow::RecordBatch> batch;  // nullptr at the end
  arrow::ArrayVector keys;
  int64_t next = 0;  // row of the batch

  int64_t last() const { return batch->num_rows() - 1; }
};

class MergeStream final : public BatchStream {
 public:
  MergeStream(std::vector<std::unique_ptr<BatchStream>> runs, SortNode node,
              std::shared_ptr<arrow::Schema> schema, const OperatorContext& context)
      : node_(std::move(node)), schema_(std::move(schema)), context_(context) {
    for (auto& stream : runs) runs_.push_back({std::move(stream), nullptr, {}, 0});
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (position_ == merged_.size()) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_RETURN_NOT_OK(MakeRoom(context_));
      ARROW_RETURN_NOT_OK(Refill());
      if (runs_.empty()) return nullptr;
      ARROW_RETURN_NOT_OK(MergeSome());
    }
    return std::move(merged_[position_++]);
  }

 private:
  /// Load a batch with remaining rows for every run; drop runs that have ended.
  arrow::Status Refill() {
    for (auto& run : runs_) {
      while (run.batch == nullptr || run.next == run.batch->num_rows()) {
        ARROW_ASSIGN_OR_RAISE(run.batch, run.stream->Next());
        if (run.batch == nullptr) break;
        run.next = 0;
        ARROW_ASSIGN_OR_RAISE(run.keys,
                              SortColumns(*run.batch, node_.keys, context_.pool));
      }
    }
    std::erase_if(runs_, [](const Run& run) { return run.batch == nullptr; });
    return arrow::Status::OK();
  }

  /// Take the rows that come before all rows of batches not yet read.
  arrow::Status MergeSome() {
    // The run whose batch ends first; of equal ends, the earliest run's.
    size_t first = 0;
    for (size_t i = 1; i < runs_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto comparator, Comparator(runs_[i], runs_[first]));
      if (comparator.Compare(runs_[i].last(), runs_[first].last()) < 0) first = i;
    }
    arrow::RecordBatchVector pieces;
    for (size_t i = 0; i < runs_.size(); ++i) {
      Run& run = runs_[i];
      ARROW_ASSIGN_OR_RAISE(int64_t end, EndOf(i, first));
      if (end > run.next) pieces.push_back(run.batch->Slice(run.next, end - run.next));
      run.next = end;
    }
    ARROW_ASSIGN_OR_RAISE(
        merged_, SortRows(pieces, node_, std::numeric_limits<int64_t>::max(), context_));
    position_ = 0;
    return arrow::Status::OK();
  }

  /// How many rows of run `i` come before the end of the batch of run `first`. Rows equal
  /// to that end count if the run is earlier; if it is later, they wait for further rows
  /// of `first`.
  arrow::Result<int64_t> EndOf(size_t i, size_t first) const {
    const Run& run = runs_[i];
    if (i == first) return run.batch->num_rows();
    ARROW_ASSIGN_OR_RAISE(auto comparator, Comparator(run, runs_[first]));
    const int64_t bound = runs_[first].last();
    int64_t low = run.next;
    int64_t high = run.batch->num_rows();
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const int order = comparator.Compare(middle, bound);
      if (order < 0 || (order == 0 && i < first)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  arrow::Result<SortComparator> Comparator(const Run& left, const Run& right) const {
    return SortComparator::Make(left.keys, right.keys, node_.keys, node_.nulls_first);
  }

  const SortNode node_;
  const std::shared_ptr<arrow::Schema> schema_;
  const OperatorContext& context_;
  std::vector<Run> runs_;  // in order
  arrow::RecordBatchVector merged_;
  size_t position_ = 0;  // in merged_
};

}  // namespace

std::unique_ptr<BatchStream> MergeRuns(std::vector<std::unique_ptr<BatchStream>> runs,
                                       const SortNode& node,
                                       std::shared_ptr<arrow::Schema> schema,
                                       const OperatorContext& context) {
  return std::make_unique<MergeStream>(std::move(runs), node, std::move(schema), context);
}

}  // namespace xshards::ops
