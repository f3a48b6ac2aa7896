// SPDX-License-Identifier: Apache-2.0
// KeepDictionaries: walks from the root to the scans, knowing who gets the rows next.
#include <utility>
#include <vector>

#include "xshards/optimizer/optimizer.h"

namespace xshards {

namespace {

enum class Reader {
  kEngine,  // moves, groups or stores rows: fewer bytes are better
  kPeople,  // the caller or a user's function: they get values
};

Plan EncodeScan(const Plan& plan) {
  auto scan = plan->as<ScanNode>();
  auto fields = scan.schema->fields();
  for (const auto& name : scan.encodable) {
    const int i = scan.schema->GetFieldIndex(name);
    if (i < 0) continue;
    auto& field = fields[static_cast<size_t>(i)];
    field = field->WithType(arrow::dictionary(arrow::int32(), field->type()));
  }
  scan.schema = arrow::schema(std::move(fields), scan.schema->metadata());
  scan.encodable.clear();
  return MakeNode(std::move(scan));
}

/// Who reads the rows of a node's inputs.
Reader ReaderBelow(const PlanNode& node, Reader above) {
  switch (node.kind()) {
    case NodeKind::kMapNative:
    case NodeKind::kMapPython:
      return Reader::kPeople;
    case NodeKind::kExchange:
    case NodeKind::kAggregate:
    case NodeKind::kDistinct:
    case NodeKind::kJoin:
    case NodeKind::kSort:
    case NodeKind::kCache:
      return Reader::kEngine;
    default:
      return above;
  }
}

Plan KeepInScans(const Plan& plan, Reader reader) {
  if (plan->kind() == NodeKind::kScan) {
    const bool encode =
        reader == Reader::kEngine && !plan->as<ScanNode>().encodable.empty();
    return encode ? EncodeScan(plan) : plan;
  }
  if (plan->kind() == NodeKind::kCache && plan->as<CacheNode>().partitions != nullptr)
    return plan;
  const Reader below = ReaderBelow(*plan, reader);
  std::vector<Plan> inputs;
  for (const auto& input : plan->inputs) inputs.push_back(KeepInScans(input, below));
  return WithInputs(plan, std::move(inputs));
}

}  // namespace

arrow::Result<Plan> KeepDictionaries(const Plan& plan) {
  return KeepInScans(plan, Reader::kPeople);
}

}  // namespace xshards
