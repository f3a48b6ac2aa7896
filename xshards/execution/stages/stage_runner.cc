// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/stages/stage_runner.h"

#include <utility>

#include "xshards/execution/planner/range_boundaries.h"
#include "xshards/types/conform.h"

namespace xshards {

namespace {

/// The one partition that the leaf of a fragment reads.
const Partition& LeafOf(const Fragment& fragment) {
  return fragment.root->as<LiteralNode>().partitions[0];
}

/// Set the number of preceding rows in the fragments of a balanced exchange.
void CountRowsBefore(std::vector<Fragment>& fragments) {
  int64_t total_rows = 0;
  for (auto& fragment : fragments) {
    fragment.sink.first_row = total_rows;
    total_rows += LeafOf(fragment).num_rows();
  }
  for (auto& fragment : fragments) fragment.sink.total_rows = total_rows;
}

/// Choose the ranges of an exchange from a sample of the rows.
arrow::Status SetBoundaries(std::vector<Fragment>& fragments, arrow::MemoryPool* pool) {
  const SinkSpec& sink = fragments[0].sink;
  const SortNode order{.keys = sink.sort_keys, .nulls_first = sink.nulls_first};
  std::vector<Partition> partitions;
  for (const auto& fragment : fragments) partitions.push_back(LeafOf(fragment));
  ARROW_ASSIGN_OR_RAISE(const auto schema, UnifySchemas(partitions));
  ARROW_ASSIGN_OR_RAISE(
      const auto boundaries,
      ChooseBoundaries(partitions, order, schema, sink.num_partitions, pool));
  for (auto& fragment : fragments) fragment.sink.boundaries = boundaries;
  return arrow::Status::OK();
}

/// Results of other processes say themselves where their blocks go.
arrow::Status CheckDestinations(const Partition::Stores& stores, int32_t num_partitions) {
  for (const auto& store : stores) {
    for (size_t i = 0, count = store->num_blocks(); i < count; ++i) {
      const int32_t destination = store->block(i).destination;
      if (destination >= 0 && destination < num_partitions) continue;
      return arrow::Status::Invalid("Expected rows for partitions 0 to ",
                                    num_partitions - 1, ", got some for partition ",
                                    destination);
    }
  }
  return arrow::Status::OK();
}

/// The partitions of an exchange, from the blocks that its fragments wrote for each.
arrow::Status ReadPartitions(int32_t num_partitions, StageOutput& output) {
  ARROW_RETURN_NOT_OK(CheckDestinations(output.stores, num_partitions));
  output.partitions = Partition::ForAll(output.stores, num_partitions);
  ARROW_ASSIGN_OR_RAISE(output.schema, UnifySchemas(output.partitions));
  if (output.schema == nullptr) return arrow::Status::OK();
  // A partition without rows is an empty table, not missing.
  for (auto& partition : output.partitions) {
    ARROW_ASSIGN_OR_RAISE(auto own, partition.schema());
    if (own != nullptr) continue;
    partition = Partition::FromPayload(Payload::Table(output.schema, {}));
  }
  return arrow::Status::OK();
}

/// The output of a stage's fragments.
arrow::Result<std::shared_ptr<const StageOutput>> ToOutput(
    const SinkSpec& sink, std::vector<FragmentResult> results) {
  auto output = std::make_shared<StageOutput>();
  for (auto& result : results) {
    output->num_rows += result.metrics.rows_out;
    if (result.whole != nullptr) {
      output->whole.push_back(Partition({std::move(result.whole)}, 0));
    }
    output->stores.push_back(std::move(result.store));
  }
  if (sink.kind == SinkKind::kPartition) {
    ARROW_RETURN_NOT_OK(ReadPartitions(sink.num_partitions, *output));
    if (!sink.keep_whole) output->stores.clear();
  } else if (sink.kind == SinkKind::kPublish) {
    for (auto& store : output->stores) {
      output->partitions.push_back(Partition({std::move(store)}, 0));
    }
    output->stores.clear();
    // Outputs of functions may have no common type: a node that needs one reports it.
    output->schema = UnifySchemas(output->partitions).ValueOr(nullptr);
  }
  return output;
}

}  // namespace

arrow::Result<std::shared_ptr<const StageOutput>> StageRunner::Await(StageGraph& graph,
                                                                     int32_t stage) {
  const auto num_stages = std::ssize(graph.stages);
  if (stage < 1 || stage > num_stages) {
    return arrow::Status::Invalid("Expected a stage from 1 to ", num_stages,
                                  ", got stage ", stage);
  }
  for (; num_run_ < stage; ++num_run_) {
    Stage& next = graph.stages[static_cast<size_t>(num_run_)];
    ARROW_ASSIGN_OR_RAISE(auto output, Run(next));
    kept_[next.number] = {.readers = next.readers, .output = std::move(output)};
    next.trees.clear();
    std::erase_if(kept_, [&](const auto& one) {
      return one.first != stage && one.second.readers.expired();
    });
  }
  return OutputOf(stage);
}

arrow::Result<std::shared_ptr<const StageOutput>> StageRunner::OutputOf(
    int32_t stage) const {
  const auto kept = kept_.find(stage);
  if (kept != kept_.end()) return kept->second.output;
  return arrow::Status::Invalid(
      "The output of stage ", stage,
      " is gone: it is kept only while a tree that reads it exists");
}

arrow::Result<std::shared_ptr<const StageOutput>> StageRunner::Run(Stage& stage) {
  if (stage.trees.empty()) return std::make_shared<const StageOutput>();
  ARROW_ASSIGN_OR_RAISE(Runner* const runner, RunnerOf(stage.place));
  ARROW_ASSIGN_OR_RAISE(const auto fragments, MakeFragments(stage));
  StageProfile profile{.label = stage.label, .runner = runner->name()};
  profile.num_fragments = static_cast<int>(fragments.size());
  for (const auto& choice : stage.algorithms) profile.notes.push_back(choice.ToString());
  environment_.progress->StartStage(profile.label, profile.num_fragments);
  profile.begin_ns = SteadyNanoseconds();
  auto* const budget = environment_.storage.budget;
  const int64_t spilled_before = budget->spilled_bytes();
  ARROW_ASSIGN_OR_RAISE(auto results,
                        runner->Run(fragments, environment_.storage, stop_,
                                    [this] { environment_.progress->FinishFragment(); }));
  profile.wall_seconds =
      static_cast<double>(SteadyNanoseconds() - profile.begin_ns) / 1e9;
  profile.spilled_bytes = budget->spilled_bytes() - spilled_before;
  for (const auto& result : results) {
    profile.metrics.Merge(result.metrics);
    profile.spans.push_back(result.span);
  }
  profile_.stages.push_back(std::move(profile));
  return ToOutput(stage.sink, std::move(results));
}

arrow::Result<std::vector<Fragment>> StageRunner::MakeFragments(const Stage& stage) {
  std::vector<Fragment> fragments;
  for (size_t i = 0; i < stage.trees.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto root, Resolve(stage.trees[i]));
    fragments.push_back(
        {.index = static_cast<int32_t>(i), .root = std::move(root), .sink = stage.sink});
    if (!stage.paths.empty()) fragments[i].sink.path = stage.paths[i];
  }
  if (stage.sink.kind != SinkKind::kPartition) return fragments;
  if (stage.sink.mode == ExchangeMode::kRoundRobin) CountRowsBefore(fragments);
  if (stage.sink.mode == ExchangeMode::kRange) {
    ARROW_RETURN_NOT_OK(SetBoundaries(fragments, environment_.storage.budget->pool()));
  }
  return fragments;
}

arrow::Result<Plan> StageRunner::Resolve(const Plan& tree) {
  if (tree->kind() == NodeKind::kStageInput) {
    const auto& leaf = tree->as<StageInputNode>();
    ARROW_ASSIGN_OR_RAISE(const auto output, OutputOf(leaf.stage->number));
    std::vector<Partition> partitions;
    for (const int32_t i : leaf.partitions) {
      if (i < 0 || i >= std::ssize(output->partitions)) {
        return arrow::Status::Invalid("Stage ", leaf.stage->number, " has ",
                                      output->partitions.size(),
                                      " partitions, expected to read number ", i);
      }
      partitions.push_back(output->partitions[static_cast<size_t>(i)]);
    }
    Partition all =
        partitions.size() == 1 ? std::move(partitions[0]) : Partition::Joined(partitions);
    const auto literal =
        MakeNode(LiteralNode{.schema = output->schema, .partitions = {std::move(all)}});
    return leaf.as_stored ? AsStored(literal) : literal;
  }
  if (tree->inputs.empty()) return tree;
  std::vector<Plan> inputs;
  for (const auto& input : tree->inputs) {
    ARROW_ASSIGN_OR_RAISE(auto resolved, Resolve(input));
    inputs.push_back(std::move(resolved));
  }
  return WithInputs(tree, std::move(inputs));
}

arrow::Result<Runner*> StageRunner::RunnerOf(StagePlace place) const {
  Runner* const runner = place == StagePlace::kThreads     ? environment_.threads
                         : place == StagePlace::kProcesses ? environment_.processes
                                                           : environment_.python_threads;
  if (runner != nullptr) return runner;
  return arrow::Status::NotImplemented(
      "This Context has no runner for Python functions: create it with the Python "
      "package");
}

}  // namespace xshards
