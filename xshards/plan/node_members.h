// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include "xshards/plan/plan.h"
#include "xshards/plan/sink.h"

namespace xshards {

// VisitMembers(node, visit) returns visit(member...) for the encoded members of a node,
// in the order of their bytes: the codec's only list of them. A member added here is
// written and read; increase the version of fragments and graphs with it.

template <typename Node, typename T>
concept Is = std::same_as<std::remove_const_t<Node>, T>;

template <Is<Split> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.path, node.begin, node.end, node.num_bytes, node.num_rows,
               node.file_bytes, node.file_modified, node.file_fingerprint);
}

template <Is<SortKey> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.column, node.ascending);
}

template <Is<Aggregate> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.function, node.column, node.output);
}

template <Is<DrawOrder> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.key, node.row);
}

template <Is<ResultId> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.store, node.number);
}

template <Is<ScanNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.format, node.options, node.schema, node.splits, node.folder_columns,
               node.encodable, node.columns, node.filter, node.limit, node.inferred,
               node.found);
}

template <Is<ProjectNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.names, node.expressions, node.keep_input, node.drop);
}

template <Is<MapNativeNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.name);
}

template <Is<MapPythonNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.function_hash, node.label, node.format, node.batch_rows);
}

template <Is<ExchangeNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.mode, node.keys, node.num_partitions);
}

template <Is<AggregateNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.keys, node.aggregates, node.phase, node.schema, node.ordered);
}

template <Is<DistinctNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.keys, node.keep, node.phase, node.gives_dropped);
}

template <Is<JoinNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.type, node.left_keys, node.right_keys, node.left_suffix,
               node.right_suffix, node.build_left, node.shared_table);
}

template <Is<SortNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.keys, node.nulls_first, node.limit);
}

template <Is<LimitNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.count);
}

template <Is<UnionNode> Node, typename Visit>
auto VisitMembers(Node& /*node*/, Visit&& visit) {
  return visit();
}

template <Is<ZipNode> Node, typename Visit>
auto VisitMembers(Node& /*node*/, Visit&& visit) {
  return visit();
}

template <Is<SampleNode> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.count, node.share, node.replace, node.complement, node.weights,
               node.seed, node.phase, node.num_rows, node.first_row, node.bound,
               node.weight_begin, node.weight_end, node.weight_total);
}

template <Is<SinkSpec> Node, typename Visit>
auto VisitMembers(Node& node, Visit&& visit) {
  return visit(node.kind, node.storage, node.mode, node.keys, node.num_partitions,
               node.sort_keys, node.nulls_first, node.boundaries, node.first_row,
               node.total_rows, node.keep_whole, node.format, node.options,
               node.partition_cols, node.path);
}

/// Of an encoded enumeration: its last valid value, and its name for messages.
template <typename Enum>
struct EnumLimit {
  Enum last;
  const char* name;
};
constexpr EnumLimit<NodeKind> LimitOf(NodeKind /*kind*/) {
  return {NodeKind::kDistinct, "node kind"};
}
constexpr EnumLimit<SinkKind> LimitOf(SinkKind /*kind*/) {
  return {SinkKind::kCount, "sink kind"};
}
constexpr EnumLimit<Storage> LimitOf(Storage /*storage*/) {
  return {Storage::kFile, "storage"};
}
constexpr EnumLimit<ExchangeMode> LimitOf(ExchangeMode /*mode*/) {
  return {ExchangeMode::kGather, "exchange mode"};
}
constexpr EnumLimit<AggregatePhase> LimitOf(AggregatePhase /*phase*/) {
  return {AggregatePhase::kFinal, "aggregate phase"};
}
constexpr EnumLimit<Keep> LimitOf(Keep /*keep*/) {
  return {Keep::kNone, "choice of equal rows"};
}
constexpr EnumLimit<DistinctPhase> LimitOf(DistinctPhase /*phase*/) {
  return {DistinctPhase::kFinalPositions, "distinct phase"};
}
constexpr EnumLimit<JoinType> LimitOf(JoinType /*type*/) {
  return {JoinType::kCross, "join type"};
}
constexpr EnumLimit<SamplePhase> LimitOf(SamplePhase /*phase*/) {
  return {SamplePhase::kDraw, "sample phase"};
}

}  // namespace xshards
