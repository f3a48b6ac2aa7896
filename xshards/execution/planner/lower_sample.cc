// SPDX-License-Identifier: Apache-2.0
// Planner::LowerSample: what a sample needs to know of the whole before it can be drawn
// partition by partition.
#include <algorithm>
#include <cmath>
#include <utility>

#include <arrow/array.h>

#include "xshards/execution/planner/algorithm.h"
#include "xshards/execution/planner/planner.h"
#include "xshards/plan/sampling.h"

namespace xshards {

namespace {

arrow::Result<int64_t> NumDrawn(const SampleNode& node, int64_t num_rows) {
  if (node.count < 0 && !(node.share >= 0)) {
    return arrow::Status::Invalid(
        "Expected to sample a number or a fraction of rows "
        "of at least 0, got ",
        node.share);
  }
  const int64_t count =
      node.count >= 0 ? node.count
                      : static_cast<int64_t>(
                            std::nearbyint(node.share * static_cast<double>(num_rows)));
  if (count > num_rows && (!node.replace || num_rows == 0)) {
    return arrow::Status::Invalid("Cannot draw ", count, " of ", num_rows, " rows",
                                  node.replace ? "" : " without replacement");
  }
  return count;
}

/// Call visit(row, number) for the column that fragments output, partition by partition.
template <typename ArrayType, typename Visit>
arrow::Status ForEachNumber(const std::vector<Partition>& partitions,
                            arrow::MemoryPool* pool, Visit&& visit) {
  int64_t row = 0;
  for (const auto& partition : partitions) {
    ARROW_ASSIGN_OR_RAISE(auto stream, partition.Open(nullptr, pool));
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, stream->Next());
      if (batch == nullptr) break;
      const auto& array = static_cast<const ArrayType&>(*batch->column(0));
      for (int64_t i = 0; i < array.length(); ++i) visit(row++, array.Value(i));
    }
  }
  return arrow::Status::OK();
}

/// The first row in key order that is not among the `count` drawn. Finds its key some
/// bits at a time, so that keys need not be in memory: they may be on disk.
arrow::Result<DrawOrder> FirstNotDrawn(const std::vector<Partition>& keys, int64_t count,
                                       arrow::MemoryPool* pool) {
  constexpr int kBits = 16;
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  uint64_t known = 0;    // the highest bits of the key
  int64_t left = count;  // rows before it among those whose keys have this prefix
  for (int shift = 64 - kBits; shift >= 0; shift -= kBits) {
    std::vector<int64_t> counts(kMask + 1);
    ARROW_RETURN_NOT_OK(
        ForEachNumber<arrow::UInt64Array>(keys, pool, [&](int64_t, uint64_t key) {
          const uint64_t bits = key >> shift;
          if (bits >> kBits == known) ++counts[bits & kMask];
        }));
    uint64_t next = 0;
    while (left >= counts[next]) left -= counts[next++];
    known = known << kBits | next;
  }
  DrawOrder found = kDrawAll;
  ARROW_RETURN_NOT_OK(
      ForEachNumber<arrow::UInt64Array>(keys, pool, [&](int64_t row, uint64_t key) {
        if (key == known && left-- == 0) found = {key, row};
      }));
  return found;
}

arrow::Status CheckWeights(const SampleNode& node, int64_t num_weighted, int64_t count) {
  const bool enough = node.replace ? num_weighted > 0 : num_weighted >= count;
  if (count == 0 || enough) return arrow::Status::OK();
  return arrow::Status::Invalid("Cannot draw ", count, " rows: only ", num_weighted,
                                " have a weight over 0 in column '", node.weights, "'");
}

/// Set the number of rows, of those drawn and of those before each partition.
arrow::Status CountRows(const std::vector<Partition>& partitions,
                        std::vector<SampleNode>& nodes) {
  int64_t num_rows = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].first_row = num_rows;
    num_rows += partitions[i].num_rows();
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t count, NumDrawn(nodes[0], num_rows));
  for (auto& node : nodes) {
    node.num_rows = num_rows;
    node.count = count;
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<Trees> Planner::LowerSample(const Plan& plan, Storage storage) {
  auto sample = plan->as<SampleNode>();
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  ARROW_RETURN_NOT_OK(OutputSchema(*MakeNode(sample, {trees[0]})).status());
  // A row is identified by its global row number, so rows are counted first.
  ARROW_ASSIGN_OR_RAISE(trees, Publish(std::move(trees), storage));
  ARROW_ASSIGN_OR_RAISE(trees, Observe(trees, Decision::kDrawnRows));
  Note(ChooseAlgorithm(*plan));
  ARROW_ASSIGN_OR_RAISE(const auto partitions, PartitionsOf(trees));
  sample.phase = SamplePhase::kDraw;
  std::vector<SampleNode> nodes(trees.size(), sample);
  if (partitions.has_value()) {
    ARROW_RETURN_NOT_OK(CountRows(*partitions, nodes));
  }
  if (!sample.weights.empty()) {
    ARROW_RETURN_NOT_OK(WeighRows(trees, nodes));
  } else if (!sample.replace && partitions.has_value()) {
    const auto bound = FirstNotDrawn(sample.seed, nodes[0].num_rows, nodes[0].count);
    for (auto& node : nodes) node.bound = bound;
  }
  for (size_t i = 0; i < trees.size(); ++i) trees[i] = MakeNode(nodes[i], {trees[i]});
  return trees;
}

arrow::Status Planner::WeighRows(const Trees& trees, std::vector<SampleNode>& nodes) {
  const auto phase = nodes[0].replace ? SamplePhase::kSumWeights : SamplePhase::kGiveKeys;
  Trees weighing;
  for (size_t i = 0; i < trees.size(); ++i) {
    auto node = nodes[i];
    node.phase = phase;
    weighing.push_back(MakeNode(std::move(node), {trees[i]}));
  }
  ARROW_ASSIGN_OR_RAISE(weighing, Publish(std::move(weighing), Storage::kHeap));
  ARROW_ASSIGN_OR_RAISE(weighing, Observe(weighing, Decision::kDrawnRows));
  ARROW_ASSIGN_OR_RAISE(const auto found, PartitionsOf(weighing));
  if (!found.has_value()) return arrow::Status::OK();
  const auto& weighed = *found;
  const int64_t count = nodes[0].count;
  auto* pool = options_.pool;
  if (phase == SamplePhase::kGiveKeys) {
    const int64_t num_rows = nodes[0].num_rows;
    int64_t num_weighted = 0;
    ARROW_RETURN_NOT_OK(ForEachNumber<arrow::UInt64Array>(
        weighed, pool,
        [&](int64_t, uint64_t key) { num_weighted += key != kDrawAll.key; }));
    ARROW_RETURN_NOT_OK(CheckWeights(nodes[0], num_weighted, count));
    DrawOrder bound = kDrawAll;
    if (count < num_rows) {
      ARROW_ASSIGN_OR_RAISE(bound, FirstNotDrawn(weighed, count, pool));
    }
    for (auto& node : nodes) node.bound = bound;
    return arrow::Status::OK();
  }
  std::vector<double> sums;
  ARROW_RETURN_NOT_OK(ForEachNumber<arrow::DoubleArray>(
      weighed, pool, [&](int64_t, double sum) { sums.push_back(sum); }));
  double total = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].weight_begin = total;
    total += sums[i];
    nodes[i].weight_end = total;
  }
  for (auto& node : nodes) node.weight_total = total;
  return CheckWeights(nodes[0], total > 0 ? 1 : 0, count);
}

}  // namespace xshards
