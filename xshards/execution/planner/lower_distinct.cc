// SPDX-License-Identifier: Apache-2.0
// Planner::LowerDistinct: by the positions of the rows to keep or, where only reading
// files gives the rows again, by holding the distinct rows.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/util/bit_util.h>

#include "xshards/execution/planner/algorithm.h"
#include "xshards/execution/planner/planner.h"
#include "xshards/plan/distinct.h"
#include "xshards/storage/batch_stream.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards {

namespace {

// A name that no user's column has.
constexpr char kKept[] = "__kept";

/// True if reading a tree again costs nothing.
bool IsThere(const PlanNode& tree) {
  if (IsLeaf(tree)) return true;
  if (tree.kind() != NodeKind::kProject) return false;
  const auto& expressions = tree.as<ProjectNode>().expressions;
  return std::all_of(expressions.begin(), expressions.end(),
                     [](const auto& one) { return one.column_name() != nullptr; }) &&
         IsThere(*tree.inputs[0]);
}

/// The rows of a tree that reads existing partitions; -1 if its stage has not run.
int64_t NumRows(const PlanNode& tree) {
  const PlanNode* leaf = &tree;
  while (!IsLeaf(*leaf)) leaf = leaf->inputs[0].get();
  return leaf->kind() == NodeKind::kStageInput
             ? leaf->as<StageInputNode>().num_rows
             : leaf->as<LiteralNode>().partitions[0].num_rows();
}

int64_t NumRows(const Trees& trees) {
  int64_t rows = 0;
  for (const Plan& tree : trees) {
    const int64_t more = NumRows(*tree);
    if (more < 0) return -1;
    rows += more;
  }
  return rows;
}

/// Which rows of each partition to keep.
class KeptRows {
 public:
  static std::shared_ptr<arrow::Schema> schema() {
    return arrow::schema({arrow::field(kKept, arrow::boolean())});
  }

  /// All of them, or none yet.
  static arrow::Result<KeptRows> Make(const Trees& trees, bool all,
                                      arrow::MemoryPool* pool) {
    KeptRows rows;
    rows.all_ = all;
    for (const Plan& tree : trees) {
      rows.lengths_.push_back(NumRows(*tree));
      ARROW_ASSIGN_OR_RAISE(auto bits,
                            arrow::AllocateEmptyBitmap(rows.lengths_.back(), pool));
      if (all) std::memset(bits->mutable_data(), 0xFF, static_cast<size_t>(bits->size()));
      rows.bits_.push_back(std::move(bits));
    }
    rows.num_noted_.resize(trees.size());
    return rows;
  }

  /// Drop these rows if all are kept by default, else keep them. Each row is given once.
  arrow::Status Note(const std::vector<Partition>& positions, arrow::MemoryPool* pool) {
    for (const auto& partition : positions) {
      ARROW_ASSIGN_OR_RAISE(auto stream, partition.Open(nullptr, pool));
      while (true) {
        ARROW_ASSIGN_OR_RAISE(auto batch, stream->Next());
        if (batch == nullptr) break;
        const auto& values = static_cast<const arrow::Int64Array&>(*batch->column(0));
        for (int64_t i = 0; i < values.length(); ++i) Note(values.Value(i));
      }
    }
    return arrow::Status::OK();
  }

  bool has_all(size_t partition) const {
    return num_noted_[partition] == (all_ ? 0 : lengths_[partition]);
  }

  /// One column of bools, one per row.
  Plan ToTree(size_t partition) const {
    auto kept =
        std::make_shared<arrow::BooleanArray>(lengths_[partition], bits_[partition]);
    auto batch = arrow::RecordBatch::Make(schema(), kept->length(), {kept});
    return MakeNode(LiteralNode{
        .schema = schema(),
        .partitions = {Partition::FromPayload(Payload::Table(schema(), {batch}))}});
  }

 private:
  void Note(int64_t position) {
    const auto partition = static_cast<size_t>(position >> kPositionRowBits);
    const int64_t row = position & (FirstPosition(1) - 1);
    arrow::bit_util::SetBitTo(bits_[partition]->mutable_data(), row, !all_);
    ++num_noted_[partition];
  }

  bool all_ = false;
  std::vector<int64_t> lengths_;
  std::vector<int64_t> num_noted_;
  std::vector<std::shared_ptr<arrow::Buffer>> bits_;
};

/// True if keys are dictionary codes, or come with them: then there are few of them, or
/// each carries its dictionary.
bool HaveNumbers(const std::vector<std::string>& keys, const arrow::Schema& input) {
  const auto first = input.GetFieldByName(keys[0]);
  return keys.size() > 1 || (first != nullptr && IsEncoded(*first));
}

/// The number of partitions for the keys. A table of keys should fit a core's cache; for
/// codes, fewer partitions are better.
int32_t NumFinders(int64_t num_rows, size_t num_partitions, bool have_numbers) {
  constexpr int64_t kMost = 1024;
  constexpr int64_t kFewest = 8;
  const int64_t rows_each = have_numbers ? 1 << 19 : 1 << 15;
  return static_cast<int32_t>(
      std::max(std::min(num_rows / rows_each, kMost),
               std::min(static_cast<int64_t>(num_partitions), kFewest)));
}

/// The input of the finders: small partitions are concatenated so that each finder has
/// enough rows. Each key belongs to one finder, and its rows stay in order. `expected` is
/// the number of rows of a partition that has not run.
Trees JoinSmall(const Trees& finding, int64_t expected) {
  constexpr int64_t kRowsEach = 1 << 14;
  Trees joined;
  int64_t num_rows = kRowsEach;  // of the last
  for (const Plan& tree : finding) {
    const auto& next = tree->as<StageInputNode>();
    const int64_t more = next.num_rows < 0 ? expected : next.num_rows;
    if (num_rows >= kRowsEach) {
      joined.push_back(tree);
      num_rows = more;
      continue;
    }
    joined.back() = Merged(joined.back()->as<StageInputNode>(), next);
    num_rows += more;
  }
  return joined;
}

}  // namespace

arrow::Result<Trees> Planner::LowerDistinct(const Plan& plan, Storage storage) {
  auto distinct = plan->as<DistinctNode>();
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  // Also finds unknown columns that could not be checked before running.
  ARROW_ASSIGN_OR_RAISE(const auto output, OutputSchema(*MakeNode(distinct, {trees[0]})));
  Note(ChooseAlgorithm(*plan));
  const bool by_position = IsMadeByPosition(distinct, *plan->inputs[0]);
  // Before a function has run, its columns are not known.
  const bool has_columns = output == nullptr || output->num_fields() > 0;
  if (distinct.keys.empty() && output != nullptr) distinct.keys = output->field_names();
  if (!by_position || !has_columns) {
    return DistinctByRows(std::move(distinct), std::move(trees), storage);
  }
  return DistinctByPosition(std::move(distinct), std::move(trees), output, storage);
}

arrow::Result<Trees> Planner::DistinctByRows(DistinctNode distinct, Trees trees,
                                             Storage storage) {
  distinct.phase = DistinctPhase::kPartialRows;
  trees = Wrap(distinct, trees);
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  sink.mode = ExchangeMode::kGather;
  sink.num_partitions = 1;
  sink.keys = distinct.keys;
  ARROW_ASSIGN_OR_RAISE(trees, Partitioned(std::move(trees), std::move(sink)));
  distinct.phase = DistinctPhase::kFinalRows;
  return Wrap(distinct, trees);
}

arrow::Result<Trees> Planner::DistinctByPosition(
    DistinctNode distinct, Trees trees, const std::shared_ptr<arrow::Schema>& output,
    Storage storage) {
  const bool are_there = std::all_of(trees.begin(), trees.end(),
                                     [](const Plan& tree) { return IsThere(*tree); });
  if (!are_there) {
    ARROW_ASSIGN_OR_RAISE(trees, Publish(std::move(trees), storage));
  }
  ARROW_ASSIGN_OR_RAISE(trees, Observe(trees, Decision::kNumKeyPartitions));
  ARROW_ASSIGN_OR_RAISE(auto input, OutputSchema(*trees[0]));

  distinct.phase = DistinctPhase::kPartialPositions;
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = Storage::kHeap};
  sink.mode = ExchangeMode::kHash;
  const int64_t num_rows = NumRows(trees);
  const bool have_numbers = input != nullptr && HaveNumbers(distinct.keys, *input);
  sink.num_partitions =
      NumFinders(std::max<int64_t>(0, num_rows), trees.size(), have_numbers);
  sink.keys = distinct.keys;
  ARROW_ASSIGN_OR_RAISE(auto finding,
                        Partitioned(Wrap(distinct, trees), std::move(sink)));
  ARROW_ASSIGN_OR_RAISE(finding, Observe(finding, Decision::kWhetherMostRowsAreKept));
  distinct.phase = DistinctPhase::kFinalPositions;
  const int64_t num_found = NumRows(finding);
  // If no partition could drop a row on its own, few will be dropped in total.
  distinct.gives_dropped = num_found >= 0 && num_found == num_rows;
  const auto num_finders = static_cast<int64_t>(finding.size());
  finding = JoinSmall(finding, std::max<int64_t>(0, num_rows) / num_finders);
  ARROW_ASSIGN_OR_RAISE(auto found, Publish(Wrap(distinct, finding), Storage::kHeap));
  finding.clear();
  ARROW_ASSIGN_OR_RAISE(found, Observe(found, Decision::kKeptRows));
  ARROW_ASSIGN_OR_RAISE(trees, KeepRows(std::move(trees), found, distinct.gives_dropped));
  if (input == nullptr) return Publish(std::move(trees), storage);
  // Now, so that later stages know the number of remaining rows.
  return Publish(Wrap(ToSchema(*input, *output), trees), storage);
}

arrow::Result<Trees> Planner::KeepRows(Trees trees, const Trees& found,
                                       bool are_dropped) {
  ARROW_ASSIGN_OR_RAISE(const auto positions, PartitionsOf(found));
  if (!positions.has_value()) {
    // A placeholder for the rows to keep, which are not known yet.
    const Plan kept = MakeNode(LiteralNode{.schema = KeptRows::schema()});
    for (Plan& tree : trees) {
      tree = MakeNode(FilterNode{col(kKept)}, {MakeNode(ZipNode{}, {tree, kept})});
    }
    return trees;
  }
  ARROW_ASSIGN_OR_RAISE(auto kept, KeptRows::Make(trees, are_dropped, options_.pool));
  ARROW_RETURN_NOT_OK(kept.Note(*positions, options_.pool));
  for (size_t i = 0; i < trees.size(); ++i) {
    if (kept.has_all(i)) continue;
    trees[i] = MakeNode(FilterNode{col(kKept)},
                        {MakeNode(ZipNode{}, {trees[i], kept.ToTree(i)})});
  }
  return trees;
}

}  // namespace xshards
