// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "xshards/execution/fragments/fragment.h"
#include "xshards/execution/planner/algorithm.h"
#include "xshards/export.h"
#include "xshards/plan/plan.h"
#include "xshards/plan/sink.h"

namespace xshards {

/// Where the fragments of a stage run.
enum class StagePlace : uint8_t {
  kThreads,        // this process's threads, without Python
  kProcesses,      // worker processes, which call Python functions
  kPythonThreads,  // this process's threads, which call Python functions
};

/// "threads", "processes", "python threads".
XSHARDS_EXPORT const char* ToString(StagePlace place);

/// An earlier stage that a stage reads.
struct StageEdge {
  int32_t stage = 0;
  /// How its rows moved between partitions; unset: each stayed where it was.
  std::optional<ExchangeMode> exchange;
  /// Several fragments read the same partitions.
  bool broadcast = false;

  bool operator==(const StageEdge&) const = default;
};

/// Fragments that run together: each does the same work on other partitions.
struct Stage {
  int32_t number = 0;  // from 1: its place in the graph
  /// The work of each fragment: narrow nodes over a split, existing partitions or the
  /// output of earlier stages (StageInputNode). Released once the stage has run.
  std::vector<Plan> trees;
  SinkSpec sink;
  std::vector<std::string> paths;  // of the files to write, one per fragment
  /// The algorithms it belongs to and why they were chosen.
  std::vector<AlgorithmChoice> algorithms;
  /// What the planner decides from this stage's output: planning continues once it has
  /// run.
  Decision decides = Decision::kNothing;

  // What trees and sink say, for when the trees are released: see DescribeTrees.
  StagePlace place = StagePlace::kThreads;
  int num_fragments = 0;
  std::string label;              // its steps, for display
  std::vector<StageEdge> inputs;  // the stages that it reads, by number

  /// Expires with the last tree that reads its output.
  std::weak_ptr<const StageReference> readers;

  /// The number of partitions of its output.
  int num_outputs() const {
    return sink.kind == SinkKind::kPartition ? sink.num_partitions : num_fragments;
  }
};

/// An optimised plan as stages, each before those that read it. Where output decides
/// (Stage::decides), later stages are those that the planner expects, or, once the output
/// exists, those that it chose.
struct StageGraph {
  std::vector<Stage> stages;
};

/// Set the members of a stage that follow from its trees, its sink and the stages of
/// `graph` that it reads.
XSHARDS_EXPORT void DescribeTrees(const StageGraph& graph, Stage* stage);

/// One line per stage and per note; `profile`, if given, has the metrics of the stages
/// that ran.
XSHARDS_EXPORT std::string FormatStages(const StageGraph& graph,
                                        const Profile* profile = nullptr);

/// Bytes in our own versioned format, for a runner elsewhere; see EncodeFragment. Before
/// it runs: a stage that has run has no trees.
XSHARDS_EXPORT arrow::Result<Encoded> EncodeStageGraph(const StageGraph& graph,
                                                       StorageEnvironment environment);
XSHARDS_EXPORT arrow::Result<StageGraph> DecodeStageGraph(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::span<const std::shared_ptr<Segment>> segments, StorageEnvironment environment);

}  // namespace xshards
