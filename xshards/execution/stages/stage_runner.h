// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/execution/fragments/metrics.h"
#include "xshards/execution/fragments/runner.h"
#include "xshards/execution/planner/planner.h"
#include "xshards/execution/planner/stage_graph.h"

namespace xshards {

/// The resources of the Context that runs a job; outlives the job.
struct ExecutionEnvironment {
  int cores = 1;
  StorageEnvironment storage;
  Runner* threads = nullptr;
  Runner* processes = nullptr;       // nullptr: no Python
  Runner* python_threads = nullptr;  // likewise
  Progress* progress = nullptr;
  ResultStore* results = nullptr;  // nullptr: nothing is cached
};

/// Runs the stages of a graph in order, and keeps their output as long as a tree may read
/// it. Used by one thread.
class StageRunner final : public StageExecution {
 public:
  StageRunner(const ExecutionEnvironment& environment, const arrow::StopToken& stop)
      : environment_(environment), stop_(stop) {}

  bool runs() const override { return true; }
  arrow::Result<std::shared_ptr<const StageOutput>> Await(StageGraph& graph,
                                                          int32_t stage) override;

  /// The profile of the stages that have run, in order.
  const Profile& profile() const { return profile_; }

 private:
  struct Kept {
    std::weak_ptr<const StageReference> readers;
    std::shared_ptr<const StageOutput> output;
  };

  arrow::Result<std::shared_ptr<const StageOutput>> Run(Stage& stage);
  /// The fragments of a stage whose inputs have run.
  arrow::Result<std::vector<Fragment>> MakeFragments(const Stage& stage);
  /// A tree with existing partitions in place of stages.
  arrow::Result<Plan> Resolve(const Plan& tree);
  /// What a stage that has run left; Invalid if it is gone.
  arrow::Result<std::shared_ptr<const StageOutput>> OutputOf(int32_t stage) const;
  arrow::Result<Runner*> RunnerOf(StagePlace place) const;
  const ExecutionEnvironment environment_;
  const arrow::StopToken stop_;
  int32_t num_run_ = 0;
  std::map<int32_t, Kept> kept_;  // by the number of the stage
  Profile profile_;
};

}  // namespace xshards
