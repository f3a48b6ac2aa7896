// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "xshards/execution/planner/algorithm.h"
#include "xshards/execution/planner/range_boundaries.h"
#include "xshards/execution/planner/stage_graph.h"
#include "xshards/execution/planner/stage_trees.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/partition.h"

namespace xshards {

class ResultStore;

/// The output of a stage.
struct StageOutput {
  std::vector<Partition> partitions;
  std::shared_ptr<arrow::Schema> schema;  // the common schema; nullptr if there is none
  int64_t num_rows = 0;                   // that its fragments output or counted
  // With SinkSpec::keep_whole: the output of each fragment, and the blocks it
  // partitioned.
  std::vector<Partition> whole;
  std::vector<std::shared_ptr<BlockStore>> stores;
};

/// Runs stages for a Planner that needs their output before it can continue.
class StageExecution {
 public:
  virtual ~StageExecution() = default;

  /// False for explain(), where planning must change nothing.
  virtual bool runs() const = 0;
  /// Run the stages of a graph up to number `stage` that have not run yet, and return its
  /// output; nullptr if nothing runs, as for explain().
  virtual arrow::Result<std::shared_ptr<const StageOutput>> Await(StageGraph& graph,
                                                                  int32_t stage) = 0;
};

/// Lowers an optimised plan to a StageGraph: it is split at wide nodes, and where the
/// size or the order of output decides, the stages so far run first (Observe). Used once,
/// by one thread; the same code plans for explain(), where nothing runs.
class Planner {
 public:
  struct Options {
    int cores = 1;
    int64_t memory_bytes = 0;
    arrow::MemoryPool* pool = nullptr;
    ResultStore* results = nullptr;  // nullptr: nothing is cached
  };

  Planner(const Options& options, StageExecution& execution)
      : options_(options), execution_(execution) {}

  /// Plan all stages below the last one and return that stage's trees, one per partition.
  /// `storage` is where intermediate stages store the output that these trees read.
  arrow::Result<Trees> Lower(const Plan& plan, Storage storage);
  /// Like Lower, for a consumer of rows and columns: makes sure that the schema is known
  /// and that the input is tables. `consumer` is for the error message.
  arrow::Result<Trees> LowerTable(const Plan& plan, Storage storage,
                                  const PlanNode& consumer);

  /// Add a stage and return its number.
  int32_t AddStage(Trees trees, SinkSpec sink);
  /// Add a stage that keeps the output of trees, unless they only read partitions, and
  /// return the trees that read it.
  arrow::Result<Trees> Publish(Trees trees, Storage storage);
  /// The partitions that trees, which are leaves only, read; nullopt if their stage has
  /// not run.
  arrow::Result<std::optional<std::vector<Partition>>> PartitionsOf(const Trees& trees);
  /// Run the stages that trees read, so that the rows, bytes and schema of their leaves
  /// are known. `decides` says what depends on them.
  arrow::Result<Trees> Observe(const Trees& trees, Decision decides);

  StageGraph& graph() { return graph_; }
  const StageGraph& graph() const { return graph_; }

 private:
  arrow::Result<Trees> LowerMapPython(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerExchange(const Plan& plan, Storage storage);
  /// An exchange by hash whose input is a Python function that has not run yet: the
  /// workers that run it write the exchange's blocks too. nullopt for other inputs, or if
  /// the complete output is needed first.
  arrow::Result<std::optional<Trees>> LowerFunctionExchange(const Plan& input,
                                                            SinkSpec sink);
  arrow::Result<Trees> LowerAggregate(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerDistinct(const Plan& plan, Storage storage);
  /// Gather the distinct rows of each partition and hold the distinct ones of those.
  arrow::Result<Trees> DistinctByRows(DistinctNode distinct, Trees trees,
                                      Storage storage);
  /// Find the positions of the rows to keep; see plan/distinct.h.
  arrow::Result<Trees> DistinctByPosition(DistinctNode distinct, Trees trees,
                                          const std::shared_ptr<arrow::Schema>& output,
                                          Storage storage);
  /// Keep the rows at the found positions, or all other rows (`are_dropped`).
  arrow::Result<Trees> KeepRows(Trees trees, const Trees& found, bool are_dropped);
  arrow::Result<Trees> LowerJoin(const Plan& plan, Storage storage);
  /// Join every partition of one side with all rows of the other, which are held once.
  arrow::Result<Trees> JoinWithAll(JoinNode join, const Trees& left, const Trees& right,
                                   Storage storage);
  /// Partition both sides by the hash of the keys first, unless `plan`, the join, shows
  /// that they already are.
  arrow::Result<Trees> JoinByHash(const PlanNode& plan, const JoinNode& join, Trees left,
                                  Trees right, Storage storage);
  arrow::Result<Trees> LowerSort(const Plan& plan, Storage storage);
  /// Whether the rows of leaves are already sorted; false if they do not exist yet.
  arrow::Result<bool> AreInOrder(const Trees& trees, const SortNode& sort, RowsSeen seen);
  arrow::Result<Trees> LowerSample(const Plan& plan, Storage storage);
  /// Set what the fragments of a sample need to know about the weights of all rows.
  arrow::Status WeighRows(const Trees& trees, std::vector<SampleNode>& nodes);
  arrow::Result<Trees> LowerLimit(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerUnion(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerZip(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerCache(const Plan& plan, Storage storage);

  /// Add a stage that sends rows to `sink.num_partitions` partitions and return the trees
  /// that read them.
  arrow::Result<Trees> Partitioned(Trees trees, SinkSpec sink);
  /// Trees that each read one partition of a stage.
  Trees ReadStage(int32_t number, const std::shared_ptr<arrow::Schema>& schema);
  arrow::Result<Plan> Observe(const Plan& tree, Decision decides);
  /// The approximate bytes that trees output, estimated from their inputs; -1 if unknown
  /// before running.
  int64_t EstimateBytes(const Trees& trees) const;
  int64_t EstimateBytes(const PlanNode& tree) const;
  /// Held by the thread that fills an empty cache.
  std::unique_lock<std::mutex> LockToFill(const CacheNode& cache) const;
  /// The cached partitions; nullptr if the cache is empty.
  CachedPartitions Filled(const CacheNode& cache) const;
  void Fill(const CacheNode& cache, std::vector<Partition> partitions) const;
  /// Reject a leaf that does not hold a table.
  arrow::Status CheckTable(const PlanNode& tree, const PlanNode& consumer);
  /// Note the algorithm that the next stage belongs to.
  void Note(AlgorithmChoice choice) { algorithms_.push_back(std::move(choice)); }

  const Options options_;
  StageExecution& execution_;
  StageGraph graph_;
  std::vector<AlgorithmChoice> algorithms_;  // of the next stage
  int32_t num_shared_tables_ = 0;
};

}  // namespace xshards
