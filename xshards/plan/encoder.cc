// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <arrow/compute/expression.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>

#include "xshards/plan/codec.h"

namespace xshards {

namespace {

using Places = std::span<const Partition::BlockPlace>;

/// Cut the blocks of a partition where the next store begins.
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

arrow::Status PlanEncoder::Put(const SinkSpec& sink) {
  bytes_.Put(sink.kind);
  bytes_.Put(sink.storage);
  bytes_.Put(sink.mode);
  bytes_.Put(sink.keys);
  bytes_.Put(sink.num_partitions);
  ARROW_RETURN_NOT_OK(PutSortKeys(sink.sort_keys));
  bytes_.Put(sink.nulls_first);
  bytes_.Put(sink.boundaries != nullptr);
  if (sink.boundaries != nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto output, arrow::io::BufferOutputStream::Create());
    ARROW_ASSIGN_OR_RAISE(
        auto writer, arrow::ipc::MakeStreamWriter(output, sink.boundaries->schema()));
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*sink.boundaries));
    ARROW_RETURN_NOT_OK(writer->Close());
    ARROW_ASSIGN_OR_RAISE(auto buffer, output->Finish());
    bytes_.Put(*buffer);
  }
  bytes_.Put(sink.first_row);
  bytes_.Put(sink.total_rows);
  bytes_.Put(sink.keep_whole);
  bytes_.Put(sink.format);
  bytes_.Put(sink.options);
  bytes_.Put(sink.path);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::Put(const BlockStore& store) {
  return PutBlocks(store.blocks());
}

arrow::Status PlanEncoder::Put(BlockStore& store, Places some) {
  // Without a pool to move heap data to, all of it is in segments already.
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
  for (const auto& schema : schemas) ARROW_RETURN_NOT_OK(PutSchema(schema));
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

arrow::Status PlanEncoder::PutSchema(const std::shared_ptr<arrow::Schema>& schema) {
  bytes_.Put(schema != nullptr);
  if (schema == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::ipc::SerializeSchema(*schema));
  bytes_.Put(*buffer);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutExpression(const Expression& expression) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::compute::Serialize(expression.arrow()));
  bytes_.Put(*buffer);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutSortKeys(const std::vector<SortKey>& keys) {
  bytes_.Put(static_cast<int64_t>(keys.size()));
  for (const auto& key : keys) {
    bytes_.Put(key.column);
    bytes_.Put(key.ascending);
  }
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const ScanNode& node) {
  bytes_.Put(node.format);
  bytes_.Put(node.options);
  ARROW_RETURN_NOT_OK(PutSchema(node.schema));
  bytes_.Put(static_cast<int64_t>(node.splits.size()));
  for (const auto& split : node.splits) {
    bytes_.Put(split.path);
    bytes_.Put(split.begin);
    bytes_.Put(split.end);
    bytes_.Put(split.num_bytes);
    bytes_.Put(split.num_rows);
    bytes_.Put(split.file_bytes);
    bytes_.Put(split.file_modified);
    bytes_.Put(split.file_fingerprint);
  }
  bytes_.Put(node.columns.has_value());
  if (node.columns) bytes_.Put(*node.columns);
  bytes_.Put(node.filter.has_value());
  if (node.filter) ARROW_RETURN_NOT_OK(PutExpression(*node.filter));
  bytes_.Put(node.limit.value_or(-1));
  bytes_.Put(node.guessed);
  bytes_.Put(node.encodable);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const LiteralNode& node) {
  ARROW_RETURN_NOT_OK(PutSchema(node.schema));
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

arrow::Status PlanEncoder::PutNode(const ProjectNode& node) {
  bytes_.Put(node.names);
  for (const auto& expression : node.expressions) {
    ARROW_RETURN_NOT_OK(PutExpression(expression));
  }
  bytes_.Put(node.keep_input);
  bytes_.Put(node.drop);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const FilterNode& node) {
  return PutExpression(node.predicate);
}

arrow::Status PlanEncoder::PutNode(const MapNativeNode& node) {
  if (node.name.empty()) {
    return arrow::Status::Invalid(
        "An unregistered C++ function cannot leave this process; register it with "
        "XSHARDS_FUNCTION");
  }
  bytes_.Put(node.name);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const MapPythonNode& node) {
  if (node.on_threads) {
    return arrow::Status::Invalid("The function ", node.label,
                                  " runs on threads and cannot leave this process");
  }
  bytes_.Put(node.function_hash);
  bytes_.Put(node.label);
  bytes_.Put(node.format);
  bytes_.Put(node.batch_rows);
  functions_[node.function_hash] = node.pickle;
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const ExchangeNode& node) {
  bytes_.Put(node.mode);
  bytes_.Put(node.keys);
  bytes_.Put(node.num_partitions);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const AggregateNode& node) {
  bytes_.Put(node.keys);
  bytes_.Put(static_cast<int64_t>(node.aggregates.size()));
  for (const auto& aggregate : node.aggregates) {
    bytes_.Put(aggregate.function);
    bytes_.Put(aggregate.column.has_value());
    if (aggregate.column) bytes_.Put(*aggregate.column);
    bytes_.Put(aggregate.output);
  }
  bytes_.Put(node.phase);
  ARROW_RETURN_NOT_OK(PutSchema(node.schema));
  bytes_.Put(node.ordered);
  bytes_.Put(node.by_last);
  bytes_.Put(node.all_columns);
  bytes_.Put(node.single);
  bytes_.Put(node.others);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const JoinNode& node) {
  bytes_.Put(node.type);
  bytes_.Put(node.left_keys);
  bytes_.Put(node.right_keys);
  bytes_.Put(node.left_suffix);
  bytes_.Put(node.right_suffix);
  bytes_.Put(node.build_left);
  // Whoever gets it makes its own table, of rows that are not given without a partner.
  bytes_.Put(node.shared_table);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const SortNode& node) {
  bytes_.Put(node.nulls_first);
  bytes_.Put(node.limit.value_or(-1));
  return PutSortKeys(node.keys);
}

arrow::Status PlanEncoder::PutNode(const LimitNode& node) {
  bytes_.Put(node.count);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const SampleNode& node) {
  bytes_.Put(node.count);
  bytes_.Put(node.share);
  bytes_.Put(node.replace);
  bytes_.Put(node.complement);
  bytes_.Put(node.weights);
  bytes_.Put(node.seed);
  bytes_.Put(node.phase);
  bytes_.Put(node.num_rows);
  bytes_.Put(node.first_row);
  bytes_.Put(node.bound.key);
  bytes_.Put(node.bound.row);
  bytes_.Put(node.weight_begin);
  bytes_.Put(node.weight_end);
  bytes_.Put(node.weight_total);
  return arrow::Status::OK();
}

arrow::Status PlanEncoder::PutNode(const UnionNode&) { return arrow::Status::OK(); }
arrow::Status PlanEncoder::PutNode(const ZipNode&) { return arrow::Status::OK(); }

arrow::Status PlanEncoder::PutNode(const CacheNode& node) {
  // A cell belongs to its process; what it holds travels as data.
  auto partitions = node.cell->Get();
  bytes_.Put(partitions.has_value());
  if (!partitions) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(*partitions));
  return PutNode(LiteralNode{.schema = schema, .partitions = *partitions});
}

}  // namespace xshards
