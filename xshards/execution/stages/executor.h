// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/execution/stages/stage_runner.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// Runs one optimised plan for an action: the Planner lowers it to stages, the
/// StageRunner runs them. Used once, by one thread.
class Executor {
 public:
  Executor(const ExecutionEnvironment& environment, const arrow::StopToken& stop);

  arrow::Result<std::vector<Partition>> Collect(const Plan& plan);
  /// The first partitions: enough for `num_shards` shards, perhaps a few more.
  arrow::Result<std::vector<Partition>> CollectFirst(const Plan& plan,
                                                     int64_t num_shards);
  arrow::Result<int64_t> Count(const Plan& plan);
  /// `path_of(i)` is where partition i is written.
  arrow::Result<std::vector<std::string>> Write(
      const Plan& plan, const SinkSpec& sink,
      const std::function<std::string(size_t)>& path_of);

  /// The stages that ran, or were to run when one failed.
  const StageGraph& graph() const { return planner_.graph(); }
  const Profile& profile() const { return runner_.profile(); }

 private:
  /// Run a last stage that keeps the output of trees.
  arrow::Result<std::vector<Partition>> Publish(Trees trees);

  const int cores_;
  StageRunner runner_;
  Planner planner_;
};

}  // namespace xshards
