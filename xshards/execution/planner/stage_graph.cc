// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/stage_graph.h"

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "xshards/execution/planner/stage_label.h"
#include "xshards/plan/codec.h"

namespace xshards {

namespace {

// "XSG" and a version. Raise it whenever the bytes change.
constexpr uint32_t kGraphMagic = 0x47535804;

std::string Bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == 0 ? 0 : 1) << value << " "
       << kUnits[unit];
  return text.str();
}

std::string Figures(const StageProfile& profile) {
  std::ostringstream text;
  text << profile.metrics.rows_out << " rows, " << Bytes(profile.metrics.bytes_out)
       << ", " << std::fixed << std::setprecision(3) << profile.wall_seconds
       << " s, spilled " << Bytes(profile.spilled_bytes);
  return text.str();
}

arrow::Status Put(const Stage& stage, PlanEncoder& encoder) {
  auto& bytes = encoder.bytes();
  bytes.Put(static_cast<int64_t>(stage.trees.size()));
  for (const Plan& tree : stage.trees) ARROW_RETURN_NOT_OK(encoder.Put(*tree));
  ARROW_RETURN_NOT_OK(encoder.Put(stage.sink));
  bytes.Put(stage.paths);
  bytes.Put(static_cast<int64_t>(stage.algorithms.size()));
  for (const auto& choice : stage.algorithms) {
    bytes.Put(choice.algorithm);
    bytes.Put(choice.reason);
  }
  bytes.Put(stage.decides);
  return arrow::Status::OK();
}

/// An enumeration of `count` values from 0.
template <typename Enum>
arrow::Status GetEnum(ByteReader& bytes, int count, const char* name, Enum* value) {
  ARROW_RETURN_NOT_OK(bytes.Get(value));
  if (static_cast<int>(*value) < count) return arrow::Status::OK();
  return arrow::Status::Invalid("Encoded stage has an unknown ", name, ": ",
                                static_cast<int>(*value));
}

arrow::Status GetAlgorithms(ByteReader& bytes, std::vector<AlgorithmChoice>* algorithms) {
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes.GetCount(&count));
  for (int64_t i = 0; i < count; ++i) {
    auto& choice = algorithms->emplace_back();
    ARROW_RETURN_NOT_OK(GetEnum(bytes, kNumAlgorithms, "algorithm", &choice.algorithm));
    ARROW_RETURN_NOT_OK(bytes.Get(&choice.reason));
  }
  return arrow::Status::OK();
}

arrow::Status Get(PlanDecoder& decoder, Stage* stage) {
  auto& bytes = decoder.bytes();
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes.GetCount(&count));
  for (int64_t i = 0; i < count; ++i) {
    ARROW_ASSIGN_OR_RAISE(auto tree, decoder.GetPlan());
    stage->trees.push_back(std::move(tree));
  }
  ARROW_RETURN_NOT_OK(decoder.Get(&stage->sink));
  ARROW_RETURN_NOT_OK(bytes.Get(&stage->paths));
  ARROW_RETURN_NOT_OK(GetAlgorithms(bytes, &stage->algorithms));
  return GetEnum(bytes, kNumDecisions, "decision", &stage->decides);
}

StagePlace PlaceOf(const PlanNode& tree) {
  if (NeedsPythonThreads(tree)) return StagePlace::kPythonThreads;
  return NeedsPython(tree) ? StagePlace::kProcesses : StagePlace::kThreads;
}

/// The partitions of each stage that trees read, as often as they are read.
using Reads = std::map<int32_t, std::vector<int32_t>>;

void AddReads(const PlanNode& tree, Reads& reads) {
  if (tree.kind() == NodeKind::kStageInput) {
    const auto& leaf = tree.as<StageInputNode>();
    auto& partitions = reads[leaf.stage->number];
    partitions.insert(partitions.end(), leaf.partitions.begin(), leaf.partitions.end());
  }
  for (const auto& input : tree.inputs) AddReads(*input, reads);
}

bool AnyTwice(std::vector<int32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end();
}

std::vector<StageEdge> EdgesOf(const StageGraph& graph, const std::vector<Plan>& trees) {
  Reads reads;
  for (const Plan& tree : trees) AddReads(*tree, reads);
  std::vector<StageEdge> edges;
  for (const auto& [number, partitions] : reads) {
    StageEdge edge{.stage = number, .broadcast = AnyTwice(partitions)};
    const bool exists = number >= 1 && number <= std::ssize(graph.stages);
    if (exists) {
      const auto& sink = graph.stages[static_cast<size_t>(number) - 1].sink;
      if (sink.kind == SinkKind::kPartition) edge.exchange = sink.mode;
    }
    edges.push_back(edge);
  }
  return edges;
}

}  // namespace

void DescribeTrees(const StageGraph& graph, Stage* stage) {
  stage->num_fragments = static_cast<int>(stage->trees.size());
  stage->inputs = EdgesOf(graph, stage->trees);
  if (stage->trees.empty()) return;
  stage->place = PlaceOf(*stage->trees[0]);
  stage->label = StageLabel(*stage->trees[0], stage->sink);
}

const char* ToString(StagePlace place) {
  switch (place) {
    case StagePlace::kThreads:
      return "threads";
    case StagePlace::kProcesses:
      return "processes";
    case StagePlace::kPythonThreads:
      return "python threads";
  }
  return "";
}

std::string FormatStages(const StageGraph& graph, const Profile* profile) {
  std::string text;
  size_t num_run = 0;
  for (const Stage& stage : graph.stages) {
    text += "  stage " + std::to_string(stage.number) + ": " + stage.label + "   [" +
            std::to_string(stage.num_fragments) +
            (stage.num_fragments == 1 ? " fragment, " : " fragments, ") +
            ToString(stage.place) + "]\n";
    if (profile != nullptr && stage.num_fragments > 0 &&
        num_run < profile->stages.size()) {
      text += "      " + Figures(profile->stages[num_run++]) + "\n";
    }
    for (const auto& choice : stage.algorithms) {
      text += "      " + choice.ToString() + "\n";
    }
    if (stage.decides != Decision::kNothing) {
      text += std::string("      its output decides ") + ToString(stage.decides) + "\n";
    }
  }
  return text;
}

arrow::Result<Encoded> EncodeStageGraph(const StageGraph& graph,
                                        StorageEnvironment environment) {
  PlanEncoder encoder(environment);
  encoder.bytes().Put(kGraphMagic);
  encoder.bytes().Put(static_cast<int64_t>(graph.stages.size()));
  for (const Stage& stage : graph.stages) ARROW_RETURN_NOT_OK(Put(stage, encoder));
  return Encoded{.bytes = encoder.bytes().Finish(),
                 .segments = encoder.segments(),
                 .functions = encoder.functions()};
}

arrow::Result<StageGraph> DecodeStageGraph(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::span<const std::shared_ptr<Segment>> segments, StorageEnvironment environment) {
  PlanDecoder decoder(bytes, segments, environment);
  uint32_t magic = 0;
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&magic));
  if (magic != kGraphMagic) {
    return arrow::Status::Invalid(
        "These bytes are not a stage graph of this version of XShards");
  }
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(decoder.bytes().GetCount(&count));
  StageGraph graph;
  for (int64_t i = 0; i < count; ++i) {
    Stage stage{.number = static_cast<int32_t>(i) + 1};
    ARROW_RETURN_NOT_OK(Get(decoder, &stage));
    DescribeTrees(graph, &stage);
    graph.stages.push_back(std::move(stage));
  }
  ARROW_RETURN_NOT_OK(decoder.bytes().ExpectEnd());
  return graph;
}

}  // namespace xshards
