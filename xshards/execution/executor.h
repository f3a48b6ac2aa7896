// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/context.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// Runs one optimized plan: cuts it at its wide nodes into stages, and runs each stage's
/// fragments before the stage that reads their output. Used once, by one thread.
class Executor {
 public:
  Executor(Context& context, const arrow::StopToken& stop);

  arrow::Result<std::vector<Partition>> Collect(const Plan& plan);
  /// The first partitions: as many as hold `num_shards` shards, or a few more.
  arrow::Result<std::vector<Partition>> CollectFirst(const Plan& plan,
                                                     int64_t num_shards);
  arrow::Result<int64_t> Count(const Plan& plan);
  /// `path_of(i)` is where partition i is written.
  arrow::Result<std::vector<std::string>> Write(
      const Plan& plan, const SinkSpec& sink,
      const std::function<std::string(size_t)>& path_of);

  Profile TakeProfile() { return std::move(profile_); }

 private:
  /// The work for each partition, still without a sink: trees of narrow nodes.
  using Trees = std::vector<Plan>;
  /// Changes the sink of fragment i in what differs between fragments.
  using AdaptSink = std::function<void(size_t, SinkSpec&)>;

  /// Run all below the last wide node and return the trees above it. `storage` is where
  /// stages on the way must leave their output for these trees to read it.
  arrow::Result<Trees> Lower(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerMapPython(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerExchange(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerAggregate(const Plan& plan, Storage storage);
  /// An Aggregate that is made by position; see distinct_rows.h. Its keys are named.
  arrow::Result<Trees> LowerDistinct(const AggregateNode& aggregate, Trees trees,
                                     const std::shared_ptr<arrow::Schema>& output,
                                     Storage storage);
  arrow::Result<Trees> LowerJoin(const Plan& plan, Storage storage);
  /// Join every partition of one side with all of the other, which is held once.
  arrow::Result<Trees> JoinWithAll(JoinNode join, const Trees& left, const Trees& right,
                                   Storage storage);
  /// Bring equal keys of both sides together first, where `plan`, the join, does not say
  /// that they are.
  arrow::Result<Trees> JoinByHash(const PlanNode& plan, const JoinNode& join, Trees left,
                                  Trees right, Storage storage);
  arrow::Result<Trees> LowerSort(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerSample(const Plan& plan, Storage storage);
  /// Tell the fragments of a sample what they must know of the weights of all rows.
  arrow::Status WeighRows(const Trees& trees, std::vector<SampleNode>& nodes);
  arrow::Result<Trees> LowerLimit(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerUnion(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerZip(const Plan& plan, Storage storage);
  arrow::Result<Trees> LowerCache(const Plan& plan, Storage storage);

  /// An exchange by hash whose input is a Python function that has not run yet: the
  /// workers that run it write the exchange's blocks too. nullopt if the input is
  /// something else, or its output must be seen whole first.
  arrow::Result<std::optional<Trees>> LowerFunctionExchange(const Plan& input,
                                                            SinkSpec sink);

  /// Send rows to partitions by ranges of an exchange's keys, about equal in size.
  arrow::Result<Trees> RangePartitioned(const Trees& trees, const ExchangeNode& exchange,
                                        SinkSpec sink);

  /// As Lower, for a consumer that works on rows and columns: makes sure that the schema
  /// is known and that it is tables that come. `consumer` is for the message.
  arrow::Result<Trees> LowerTable(const Plan& plan, Storage storage,
                                  const PlanNode& consumer);

  arrow::Result<std::vector<Partition>> Publish(const Trees& trees, Storage storage);
  /// Send rows to `sink.num_partitions` partitions and return the trees that read them.
  arrow::Result<Trees> Partitioned(const Trees& trees, const SinkSpec& sink,
                                   const AdaptSink& adapt = nullptr);
  /// The trees that read what `stores` hold for each of the sink's partitions.
  static arrow::Result<Trees> ReadPartitions(
      const std::vector<std::shared_ptr<BlockStore>>& stores, const SinkSpec& sink);
  /// Tell what was decided for the stage that runs next, as "algorithm: reason". For what
  /// only running tells; AlgorithmNote says what is known before.
  void Note(std::string note) { notes_.push_back(std::move(note)); }
  arrow::Result<std::vector<FragmentResult>> RunStage(const Trees& trees,
                                                      const SinkSpec& sink,
                                                      const AdaptSink& adapt = nullptr);

  Context& context_;
  const arrow::StopToken stop_;
  Profile profile_;
  std::vector<std::string> notes_;  // of the next stage
  int32_t num_shared_tables_ = 0;
};

}  // namespace xshards
