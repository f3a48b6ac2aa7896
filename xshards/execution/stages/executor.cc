// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/stages/executor.h"

#include <algorithm>
#include <utility>

namespace xshards {

Executor::Executor(const ExecutionEnvironment& environment, const arrow::StopToken& stop)
    : cores_(environment.cores),
      runner_(environment, stop),
      planner_({.cores = environment.cores,
                .memory_bytes = environment.storage.budget->limit(),
                .pool = environment.storage.budget->pool(),
                .results = environment.results},
               runner_) {}

arrow::Result<std::vector<Partition>> Executor::Publish(Trees trees) {
  ARROW_ASSIGN_OR_RAISE(trees, planner_.Publish(std::move(trees), Storage::kHeap));
  ARROW_ASSIGN_OR_RAISE(trees, planner_.Observe(trees, Decision::kNothing));
  ARROW_ASSIGN_OR_RAISE(auto partitions, planner_.PartitionsOf(trees));
  return *std::move(partitions);
}

arrow::Result<std::vector<Partition>> Executor::Collect(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto trees, planner_.Lower(plan, Storage::kHeap));
  return Publish(std::move(trees));
}

arrow::Result<std::vector<Partition>> Executor::CollectFirst(const Plan& plan,
                                                             int64_t num_shards) {
  ARROW_ASSIGN_OR_RAISE(auto trees, planner_.Lower(plan, Storage::kHeap));
  std::vector<Partition> first;
  const auto wave = static_cast<std::ptrdiff_t>(cores_);
  for (auto begin = trees.begin(); begin != trees.end() && num_shards > 0;) {
    const auto end = begin + std::min(wave, trees.end() - begin);
    ARROW_ASSIGN_OR_RAISE(auto some, Publish({begin, end}));
    for (auto& partition : some) {
      num_shards -= partition.num_shards();
      first.push_back(std::move(partition));
    }
    begin = end;
  }
  return first;
}

arrow::Result<int64_t> Executor::Count(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto trees, planner_.Lower(plan, Storage::kHeap));
  const int32_t stage = planner_.AddStage(std::move(trees), {.kind = SinkKind::kCount});
  ARROW_ASSIGN_OR_RAISE(const auto output, runner_.Await(planner_.graph(), stage));
  return output->num_rows;
}

arrow::Result<std::vector<std::string>> Executor::Write(
    const Plan& plan, const SinkSpec& sink,
    const std::function<std::string(size_t)>& path_of) {
  ARROW_ASSIGN_OR_RAISE(auto trees, planner_.LowerTable(plan, Storage::kHeap, *plan));
  std::vector<std::string> paths;
  for (size_t i = 0; i < trees.size(); ++i) paths.push_back(path_of(i));
  const int32_t stage = planner_.AddStage(std::move(trees), sink);
  planner_.graph().stages.back().paths = paths;
  ARROW_RETURN_NOT_OK(runner_.Await(planner_.graph(), stage).status());
  return paths;
}

}  // namespace xshards
