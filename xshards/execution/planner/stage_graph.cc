// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/stage_graph.h"

#include <iomanip>
#include <sstream>
#include <utility>

#include "xshards/plan/codec.h"

namespace xshards {

namespace {

// "XSG" and a version. Raise it whenever the bytes change.
constexpr uint32_t kGraphMagic = 0x47535803;

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
  bytes.Put(stage.number);
  bytes.Put(static_cast<int64_t>(stage.trees.size()));
  for (const Plan& tree : stage.trees) ARROW_RETURN_NOT_OK(encoder.Put(*tree));
  ARROW_RETURN_NOT_OK(encoder.Put(stage.sink));
  bytes.Put(stage.paths);
  bytes.Put(stage.place);
  bytes.Put(stage.num_fragments);
  bytes.Put(stage.label);
  bytes.Put(stage.inputs);
  bytes.Put(stage.notes);
  bytes.Put(stage.decides);
  return arrow::Status::OK();
}

arrow::Status Get(PlanDecoder& decoder, Stage* stage) {
  auto& bytes = decoder.bytes();
  ARROW_RETURN_NOT_OK(bytes.Get(&stage->number));
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes.GetCount(&count));
  for (int64_t i = 0; i < count; ++i) {
    ARROW_ASSIGN_OR_RAISE(auto tree, decoder.GetPlan());
    stage->trees.push_back(std::move(tree));
  }
  ARROW_RETURN_NOT_OK(decoder.Get(&stage->sink));
  ARROW_RETURN_NOT_OK(bytes.Get(&stage->paths));
  ARROW_RETURN_NOT_OK(bytes.Get(&stage->place));
  if (stage->place > StagePlace::kPythonThreads) {
    return arrow::Status::Invalid("Encoded stage has an unknown runner: ",
                                  static_cast<int>(stage->place));
  }
  ARROW_RETURN_NOT_OK(bytes.Get(&stage->num_fragments));
  ARROW_RETURN_NOT_OK(bytes.Get(&stage->label));
  ARROW_RETURN_NOT_OK(bytes.Get(&stage->inputs));
  ARROW_RETURN_NOT_OK(bytes.Get(&stage->notes));
  return bytes.Get(&stage->decides);
}

}  // namespace

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
    for (const auto& note : stage.notes) text += "      " + note + "\n";
    if (!stage.decides.empty()) {
      text += "      its output decides " + stage.decides + "\n";
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
    ARROW_RETURN_NOT_OK(Get(decoder, &graph.stages.emplace_back()));
  }
  ARROW_RETURN_NOT_OK(decoder.bytes().ExpectEnd());
  return graph;
}

}  // namespace xshards
