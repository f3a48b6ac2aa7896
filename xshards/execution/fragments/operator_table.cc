// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/fragments/operator_table.h"

#include <utility>

#include "xshards/output/output_directory.h"

namespace xshards {

void OperatorTable::Set(NodeKind kind, OpenNode open) {
  nodes_[static_cast<size_t>(kind)] = std::move(open);
}

void OperatorTable::SetScan(const std::string& format, OpenNode open) {
  scans_[format] = std::move(open);
}

void OperatorTable::SetSink(SinkKind kind, RunSink run) { sinks_[kind] = std::move(run); }

void OperatorTable::SetWriter(const std::string& format, RunSink run) {
  writers_[format] = std::move(run);
}

void OperatorTable::SetTypeFinder(const std::string& format, FindTypes find,
                                  DescribePlace describe) {
  inferred_[format] = {.find = std::move(find), .describe = std::move(describe)};
}

void OperatorTable::SetOutput(OpenOutput open) { open_output_ = std::move(open); }

arrow::Result<const OpenNode*> OperatorTable::Find(const PlanNode& node) const {
  if (node.kind() == NodeKind::kScan) {
    const std::string& format = node.as<ScanNode>().format;
    auto found = scans_.find(format);
    if (found != scans_.end()) return &found->second;
    return arrow::Status::NotImplemented("No reader for format '", format, "'");
  }
  const OpenNode& open = nodes_[static_cast<size_t>(node.kind())];
  if (open) return &open;
  return arrow::Status::NotImplemented("No executor for ", Describe(node));
}

arrow::Result<const RunSink*> OperatorTable::FindSink(const SinkSpec& spec) const {
  if (spec.kind == SinkKind::kWrite) {
    auto found = writers_.find(spec.format);
    if (found != writers_.end()) return &found->second;
    return arrow::Status::NotImplemented("No writer for format '", spec.format, "'");
  }
  auto found = sinks_.find(spec.kind);
  if (found != sinks_.end()) return &found->second;
  return arrow::Status::NotImplemented("No sink of kind ", static_cast<int>(spec.kind));
}

arrow::Result<const OperatorTable::InferredFormat*> OperatorTable::FindInferred(
    const std::string& format) const {
  auto found = inferred_.find(format);
  if (found != inferred_.end()) return &found->second;
  return arrow::Status::NotImplemented("Format '", format, "' does not infer types");
}

arrow::Result<const FindTypes*> OperatorTable::TypeFinder(
    const std::string& format) const {
  ARROW_ASSIGN_OR_RAISE(const auto* inferred, FindInferred(format));
  return &inferred->find;
}

arrow::Result<const DescribePlace*> OperatorTable::PlaceDescriber(
    const std::string& format) const {
  ARROW_ASSIGN_OR_RAISE(const auto* inferred, FindInferred(format));
  return &inferred->describe;
}

arrow::Result<std::unique_ptr<JobOutput>> OperatorTable::MakeOutput(
    const std::string& path, WriteMode mode) const {
  if (open_output_) return open_output_(path, mode);
  return OutputDirectory::Make(path, mode);
}

}  // namespace xshards
