// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "xshards/execution/range_boundaries.h"
#include "xshards/execution/stage_graph.h"
#include "xshards/execution/stage_trees.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/partition.h"

namespace xshards {

/// What a stage left.
struct StageOutput {
  std::vector<Partition> partitions;
  std::shared_ptr<arrow::Schema> schema;  // in common; nullptr if there is none
  int64_t num_rows = 0;                   // that its fragments gave or counted
  // Of SinkSpec::keep_whole: what each fragment gave, and what it partitioned of it.
  std::vector<Partition> whole;
  std::vector<std::shared_ptr<BlockStore>> stores;
};

/// Runs stages for a Planner that must see output before it can go on.
class StageExecution {
 public:
  virtual ~StageExecution() = default;

  /// False for explain(), where planning must change nothing.
  virtual bool runs() const = 0;
  /// Run the stages of a graph up to number `stage`, those that have not run yet, and
  /// return its output; nullptr where nothing runs, as for explain().
  virtual arrow::Result<std::shared_ptr<const StageOutput>> Await(StageGraph& graph,
                                                                  int32_t stage) = 0;
};

/// Turns an optimised plan into a StageGraph: it is cut at wide nodes, and where the size
/// or the order of output decides, the stages so far run first (Observe). Used once, by
/// one thread; the same code plans for explain(), where nothing runs.
class Planner {
 public:
  struct Options {
    int cores = 1;
    int64_t memory_bytes = 0;
    arrow::MemoryPool* pool = nullptr;
  };

  Planner(const Options& options, StageExecution& execution)
      : options_(options), execution_(execution) {}

  /// Plan all below the last stage and return that stage's trees, one a partition.
  /// `storage` is where stages on the way leave their output for these trees to read.
  arrow::Result<Trees> Lower(const Plan& plan, Storage storage);
  /// As Lower, for a consumer that works on rows and columns: makes sure that the schema
  /// is known and that it is tables that come. `consumer` is for the message.
  arrow::Result<Trees> LowerTable(const Plan& plan, Storage storage,
                                  const PlanNode& consumer);

  /// Add a stage and return its number.
  int32_t AddStage(Trees trees, SinkSpec sink);
  /// Add a stage that keeps what trees give, unless they only read partitions, and return
  /// the trees that read them.
  arrow::Result<Trees> Publish(Trees trees, Storage storage);
  /// The partitions that trees read, which are nothing but leaves; nullopt where their
  /// stage has not run.
  arrow::Result<std::optional<std::vector<Partition>>> PartitionsOf(const Trees& trees);
  /// Run the stages that trees read, so that their leaves have rows and bytes and their
  /// schema. `decides` says what for.
  arrow::Result<Trees> Observe(const Trees& trees, const std::string& decides);

  StageGraph& graph() { return graph_; }
  const StageGraph& graph() const { return graph_; }

 private:
  arrow::Result<Trees> LowerMapPython(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerExchange(const Plan& plan, Storage storage);
  /// An exchange by hash whose input is a Python function that has not run yet: the
  /// workers that run it write the exchange's blocks too. nullopt if the input is
  /// something else, or its output must be seen whole first.
  arrow::Result<std::optional<Trees>> LowerFunctionExchange(const Plan& input,
                                                            SinkSpec sink);
  arrow::Result<Trees> LowerAggregate(const Plan& plan, Storage storage);
  /// An Aggregate that is made by position; see plan/distinct.h. Its keys are named.
  arrow::Result<Trees> LowerDistinct(const AggregateNode& aggregate, Trees trees,
                                     const std::shared_ptr<arrow::Schema>& output,
                                     Storage storage);
  /// Keep the rows whose positions were found, or all but those (`others`).
  arrow::Result<Trees> KeepRows(Trees trees, const Trees& found, bool others);
  arrow::Result<Trees> LowerJoin(const Plan& plan, Storage storage);
  /// Join every partition of one side with all of the other, which is held once.
  arrow::Result<Trees> JoinWithAll(JoinNode join, const Trees& left, const Trees& right,
                                   Storage storage);
  /// Partition both sides by the hash of keys first, unless `plan`, the join, says that
  /// they are.
  arrow::Result<Trees> JoinByHash(const PlanNode& plan, const JoinNode& join, Trees left,
                                  Trees right, Storage storage);
  arrow::Result<Trees> LowerSort(const Plan& plan, Storage storage);
  /// Whether the rows of leaves are in order as they come; false if they are not there.
  arrow::Result<bool> AreInOrder(const Trees& trees, const SortNode& sort, RowsSeen seen);
  arrow::Result<Trees> LowerSample(const Plan& plan, Storage storage);
  /// Set what the fragments of a sample must know of the weights of all rows.
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
  arrow::Result<Plan> Observe(const Plan& tree, const std::string& decides);
  /// About how many bytes trees give, from what they read; -1 where only running tells.
  int64_t EstimateBytes(const Trees& trees) const;
  int64_t EstimateBytes(const PlanNode& tree) const;
  /// Held while the one thread that found a cache empty fills it.
  std::unique_lock<std::mutex> LockToFill(CacheCell& cell) const;
  /// Refuse a leaf that holds something else than a table.
  arrow::Status CheckTable(const PlanNode& tree, const PlanNode& consumer);
  /// Add to the stage that comes next: "algorithm: reason".
  void Note(std::string note) { notes_.push_back(std::move(note)); }

  const Options options_;
  StageExecution& execution_;
  StageGraph graph_;
  std::vector<std::string> notes_;  // of the next stage
  int32_t num_shared_tables_ = 0;
};

}  // namespace xshards
