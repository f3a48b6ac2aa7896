// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <arrow/compute/expression.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>

#include "xshards/expression/expression_graph.h"
#include "xshards/plan/codec.h"
#include "xshards/plan/node_members.h"

namespace xshards {

namespace {

using Places = std::span<const Partition::BlockPlace>;

/// Group the blocks of a partition by store.
std::vector<Places> CutByStore(Places blocks) {
  std::vector<Places> cut;
  while (!blocks.empty()) {
    const auto end = std::find_if(blocks.begin(), blocks.end(), [&](const auto& place) {
      return place.store != blocks.front().store;
    });
    const auto count = static_cast<size_t>(end - blocks.begin());
    cut.push_back(blocks.first(count));
    blocks = blocks.subspan(count);
  }
  return cut;
}

}  // namespace

arrow::Status PlanEncoder::Put(const PlanNode& plan) {
  bytes_.Put(plan.kind());
  ARROW_RETURN_NOT_OK(
      std::visit([this](const auto& node) { return PutNode(node); }, plan.node));
  bytes_.Put(static_cast<int64_t>(plan.inputs.size()));
  for (const auto& input : plan.inputs) ARROW_RETURN_NOT_OK(Put(*input));
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::Put(const SinkSpec& sink) { return PutMember(sink); }

template <typename T>
arrow::Status PlanEncoder::PutMember(const T& value) {
  if constexpr (requires { bytes_.Put(value); }) {
    bytes_.Put(value);
    return arrow::Status::OK();
  } else {
    return VisitMembers(value, [this](const auto&... members) {
      arrow::Status status;
      // Stops at the first that fails. A node without members does not use `this`.
      static_cast<void>(this);
      static_cast<void>(((status = PutMember(members)).ok() && ...));
      return status;
    });
  }
}

template <typename T>
arrow::Status PlanEncoder::PutMember(const std::optional<T>& value) {
  bytes_.Put(value.has_value());
  return value.has_value() ? PutMember(*value) : arrow::Status::OK();
}

template <typename T>
arrow::Status PlanEncoder::PutMember(const std::vector<T>& values) {
  bytes_.Put(static_cast<int64_t>(values.size()));
  for (const auto& value : values) ARROW_RETURN_NOT_OK(PutMember(value));
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutMember(const Expression& expression) {
  const std::string* column = expression.column_name();
  bytes_.Put(column != nullptr);
  if (column != nullptr) {  // most of those of a wide table
    bytes_.Put(*column);
    return arrow::Status::OK();
  }
  const auto parts = SplitSharedParts(expression.arrow());
  bytes_.Put(parts.prefix);
  bytes_.Put(static_cast<int64_t>(parts.trees.size()));
  for (const auto& tree : parts.trees) {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::compute::Serialize(tree));
    bytes_.Put(*buffer);
  }
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutMember(const std::shared_ptr<arrow::Schema>& schema) {
  bytes_.Put(schema != nullptr);
  if (schema == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::ipc::SerializeSchema(*schema));
  bytes_.Put(*buffer);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutMember(const std::shared_ptr<arrow::RecordBatch>& batch) {
  bytes_.Put(batch != nullptr);
  if (batch == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto output, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        arrow::ipc::MakeStreamWriter(output, batch->schema()));
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  ARROW_RETURN_NOT_OK(writer->Close());
  ARROW_ASSIGN_OR_RAISE(auto buffer, output->Finish());
  bytes_.Put(*buffer);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutMember(const ResultHandle& id) {
  bytes_.Put(id != nullptr);
  return id == nullptr ? arrow::Status::OK() : PutMember(*id);
}

arrow::Status PlanEncoder::PutMember(const FormatOptionsPointer& options) {
  bytes_.Put(options != nullptr);
  if (options == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto encoded, options->Encode());
  bytes_.Put(*encoded);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::Put(const BlockStore& store) {
  return PutBlocks(store.blocks());
}

arrow::Status PlanEncoder::Put(BlockStore& store, Places some) {
  // Without a pool to move heap data to, all data is already in segments.
  if (environment_.segments != nullptr) {
    ARROW_RETURN_NOT_OK(store.Share(*environment_.segments));
  }
  std::vector<BlockStore::Block> blocks;
  for (const auto& place : some) blocks.push_back(store.block(place.index));
  return PutBlocks(blocks);
}

arrow::Status PlanEncoder::PutBlocks(const std::vector<BlockStore::Block>& blocks) {
  std::vector<std::shared_ptr<arrow::Schema>> schemas;
  for (const auto& block : blocks) {
    if (std::find(schemas.begin(), schemas.end(), block.schema) == schemas.end()) {
      schemas.push_back(block.schema);
    }
  }
  bytes_.Put(static_cast<int64_t>(schemas.size()));
  for (const auto& schema : schemas) ARROW_RETURN_NOT_OK(PutMember(schema));
  bytes_.Put(static_cast<int64_t>(blocks.size()));
  for (const auto& block : blocks) {
    bytes_.Put(block.destination);
    bytes_.Put(block.num_rows);
    bytes_.Put(block.num_bytes);
    bytes_.Put(std::find(schemas.begin(), schemas.end(), block.schema) - schemas.begin());
    PutRange(block.segment, block.range);
    bytes_.Put(static_cast<int64_t>(block.references.size()));
    for (const auto& reference : block.references) {
      bytes_.Put(reference.has_value());
      if (reference.has_value()) PutReference(*reference);
    }
  }
  return arrow::Status::OK();
}

void PlanEncoder::PutRange(const std::shared_ptr<Segment>& segment,
                           Segment::Range range) {
  bytes_.Put(segment != nullptr);
  if (segment == nullptr) return;
  auto found = std::find(segments_.begin(), segments_.end(), segment);
  bytes_.Put(static_cast<int64_t>(found - segments_.begin()));
  if (found == segments_.end()) segments_.push_back(segment);
  bytes_.Put(range.offset);
  bytes_.Put(range.length);
}

void PlanEncoder::PutReference(const ArrayReference& reference) {
  bytes_.Put(reference.length);
  bytes_.Put(reference.null_count);
  bytes_.Put(reference.offset);
  bytes_.Put(static_cast<int64_t>(reference.buffers.size()));
  for (const auto& [present, segment, range] : reference.buffers) {
    bytes_.Put(present);
    PutRange(segment, range);
  }
  for (const auto* parts : {&reference.children, &reference.dictionary}) {
    bytes_.Put(static_cast<int64_t>(parts->size()));
    for (const auto& part : *parts) PutReference(part);
  }
}

arrow::Status PlanEncoder::PutNode(const LiteralNode& node) {
  ARROW_RETURN_NOT_OK(PutMember(node.schema));
  bytes_.Put(static_cast<int64_t>(node.partitions.size()));
  for (const auto& partition : node.partitions) {
    bytes_.Put(partition.destination());
    const auto by_store = CutByStore(partition.blocks());
    bytes_.Put(static_cast<int64_t>(by_store.size()));
    for (const auto& blocks : by_store) {
      ARROW_RETURN_NOT_OK(Put(*blocks.front().store, blocks));
    }
  }
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const MapNativeNode& node) {
  if (node.name.empty()) {
    return arrow::Status::Invalid(
        "An unregistered C++ function cannot be sent to another process; register it "
        "with "
        "XSHARDS_FUNCTION");
  }
  return PutMember(node);
}

arrow::Status PlanEncoder::PutNode(const MapPythonNode& node) {
  if (node.on_threads) {
    return arrow::Status::Invalid(
        "The function ", node.label,
        " runs on threads and cannot be sent to another process");
  }
  functions_[node.function_hash] = node.pickle;
  return PutMember(node);
}

arrow::Status PlanEncoder::PutNode(const CacheNode& node) {
  ARROW_RETURN_NOT_OK(PutMember(node.id));
  bytes_.Put(node.partitions != nullptr);
  if (node.partitions == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(*node.partitions));
  return PutNode(LiteralNode{.schema = schema, .partitions = *node.partitions});
}

arrow::Status PlanEncoder::PutNode(const StageInputNode& node) {
  bytes_.Put(node.stage->number);
  bytes_.Put(node.partitions);
  ARROW_RETURN_NOT_OK(PutMember(node.schema));
  bytes_.Put(node.num_rows);
  bytes_.Put(node.num_bytes);
  bytes_.Put(node.as_stored);
  return arrow::Status::OK();
}

}  // namespace xshards
