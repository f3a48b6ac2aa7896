// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/execution/metrics.h"
#include "xshards/execution/planner.h"
#include "xshards/execution/runner.h"
#include "xshards/execution/stage_graph.h"

namespace xshards {

/// What a job may use of the Context that runs it, which outlives the job.
struct ExecutionEnvironment {
  int cores = 1;
  StorageEnvironment storage;
  Runner* threads = nullptr;
  Runner* processes = nullptr;       // nullptr: there is no Python
  Runner* python_threads = nullptr;  // likewise
  Progress* progress = nullptr;
};

/// Runs the stages of a graph in their order, each when its turn comes, and keeps output
/// for as long as a tree may still read it. Used by one thread.
class StageRunner final : public StageExecution {
 public:
  StageRunner(const ExecutionEnvironment& environment, const arrow::StopToken& stop)
      : environment_(environment), stop_(stop) {}

  bool runs() const override { return true; }
  arrow::Result<std::shared_ptr<const StageOutput>> Await(StageGraph& graph,
                                                          int32_t stage) override;

  /// What the stages that have run did, in their order.
  const Profile& profile() const { return profile_; }

 private:
  struct Kept {
    std::weak_ptr<const StageReference> readers;
    std::shared_ptr<const StageOutput> output;
  };

  arrow::Result<std::shared_ptr<const StageOutput>> Run(Stage& stage);
  /// The fragments of a stage whose inputs have run.
  arrow::Result<std::vector<Fragment>> MakeFragments(const Stage& stage);
  /// A tree with existing partitions in the place of stages.
  arrow::Result<Plan> Resolve(const Plan& tree);
  arrow::Result<Runner*> RunnerOf(StagePlace place) const;
  const ExecutionEnvironment environment_;
  const arrow::StopToken stop_;
  int32_t num_run_ = 0;
  std::map<int32_t, Kept> kept_;  // by the number of the stage
  Profile profile_;
};

}  // namespace xshards
