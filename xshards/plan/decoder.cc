// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <arrow/compute/expression.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>

#include "xshards/plan/codec.h"

namespace xshards {

namespace {

// Deeper than any plan a person writes; stops damaged bytes from recursing for ever.
constexpr int kMaxDepth = 1000;

template <typename E>
arrow::Status GetEnum(ByteReader& bytes, E* out, E last, const char* what) {
  ARROW_RETURN_NOT_OK(bytes.Get(out));
  if (static_cast<int>(*out) <= static_cast<int>(last)) return arrow::Status::OK();
  return arrow::Status::Invalid("Encoded fragment has an unknown ", what, ": ",
                                static_cast<int>(*out));
}

}  // namespace

arrow::Result<Plan> PlanDecoder::GetPlan() {
  if (++depth_ > kMaxDepth) return arrow::Status::Invalid("Encoded plan is too deep");
  NodeKind kind{};
  ARROW_RETURN_NOT_OK(GetEnum(bytes_, &kind, NodeKind::kSample, "node kind"));
  ARROW_ASSIGN_OR_RAISE(auto node, GetNode(kind));
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  std::vector<Plan> inputs;
  for (int64_t i = 0; i < count; ++i) {
    ARROW_ASSIGN_OR_RAISE(auto input, GetPlan());
    inputs.push_back(std::move(input));
  }
  --depth_;
  return MakeNode(std::move(node), std::move(inputs));
}

arrow::Status PlanDecoder::Get(SinkSpec* sink) {
  ARROW_RETURN_NOT_OK(GetEnum(bytes_, &sink->kind, SinkKind::kCount, "sink kind"));
  ARROW_RETURN_NOT_OK(GetEnum(bytes_, &sink->storage, Storage::kFile, "storage"));
  ARROW_RETURN_NOT_OK(GetEnum(bytes_, &sink->mode, ExchangeMode::kGather, "exchange"));
  ARROW_RETURN_NOT_OK(bytes_.Get(&sink->keys));
  ARROW_RETURN_NOT_OK(bytes_.Get(&sink->num_partitions));
  ARROW_RETURN_NOT_OK(Get(&sink->sort_keys));
  ARROW_RETURN_NOT_OK(bytes_.Get(&sink->nulls_first));
  bool has_boundaries = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&has_boundaries));
  if (has_boundaries) {
    std::shared_ptr<arrow::Buffer> buffer;
    ARROW_RETURN_NOT_OK(bytes_.Get(&buffer));
    // What comes before may have any length, so that values need not lie aligned.
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
    ARROW_ASSIGN_OR_RAISE(
        auto reader, arrow::ipc::RecordBatchStreamReader::Open(
                         std::make_shared<arrow::io::BufferReader>(buffer), options));
    ARROW_ASSIGN_OR_RAISE(sink->boundaries, reader->Next());
  }
  ARROW_RETURN_NOT_OK(bytes_.Get(&sink->first_row));
  ARROW_RETURN_NOT_OK(bytes_.Get(&sink->total_rows));
  ARROW_RETURN_NOT_OK(bytes_.Get(&sink->keep_whole));
  ARROW_RETURN_NOT_OK(bytes_.Get(&sink->format));
  ARROW_RETURN_NOT_OK(bytes_.Get(&sink->options));
  return bytes_.Get(&sink->path);
}

arrow::Result<std::shared_ptr<BlockStore>> PlanDecoder::GetStore(bool spillable) {
  int64_t num_schemas = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&num_schemas));
  std::vector<std::shared_ptr<arrow::Schema>> schemas;
  for (int64_t i = 0; i < num_schemas; ++i) {
    ARROW_ASSIGN_OR_RAISE(auto schema, GetSchema());
    schemas.push_back(std::move(schema));
  }
  int64_t num_blocks = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&num_blocks));
  std::vector<BlockStore::Block> blocks(static_cast<size_t>(num_blocks));
  for (auto& block : blocks) {
    int64_t schema = 0;
    ARROW_RETURN_NOT_OK(bytes_.Get(&block.destination));
    ARROW_RETURN_NOT_OK(bytes_.Get(&block.num_rows));
    ARROW_RETURN_NOT_OK(bytes_.Get(&block.num_bytes));
    ARROW_RETURN_NOT_OK(bytes_.Get(&schema));
    if (schema < 0 || schema >= num_schemas) {
      return arrow::Status::Invalid("Encoded fragment refers to schema ", schema, " of ",
                                    num_schemas);
    }
    block.schema = schemas[static_cast<size_t>(schema)];
    ARROW_RETURN_NOT_OK(GetRange(&block.segment, &block.range));
    int64_t num_references = 0;
    ARROW_RETURN_NOT_OK(bytes_.GetCount(&num_references));
    const bool complete = num_references == 0
                              ? block.segment != nullptr
                              : num_references == block.schema->num_fields();
    if (!complete) {
      return arrow::Status::Invalid("Encoded block refers to ", num_references,
                                    " of its ", block.schema->num_fields(), " columns");
    }
    block.references.resize(static_cast<size_t>(num_references));
    for (auto& reference : block.references) {
      bool referred = false;
      ARROW_RETURN_NOT_OK(bytes_.Get(&referred));
      if (!referred && block.segment == nullptr) {
        return arrow::Status::Invalid("Encoded block lacks a column");
      }
      if (!referred) continue;
      ARROW_ASSIGN_OR_RAISE(reference, GetReference());
    }
  }
  return BlockStore::FromBlocks(std::move(blocks), environment_, spillable);
}

arrow::Status PlanDecoder::GetRange(std::shared_ptr<Segment>* segment,
                                    Segment::Range* range) {
  bool present = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&present));
  if (!present) return arrow::Status::OK();
  int64_t index = 0;
  ARROW_RETURN_NOT_OK(bytes_.Get(&index));
  ARROW_RETURN_NOT_OK(bytes_.Get(&range->offset));
  ARROW_RETURN_NOT_OK(bytes_.Get(&range->length));
  if (index < 0 || index >= static_cast<int64_t>(segments_.size())) {
    return arrow::Status::Invalid("Encoded fragment refers to segment ", index, " of ",
                                  segments_.size());
  }
  *segment = segments_[static_cast<size_t>(index)];
  const int64_t size = (*segment)->size();
  if (range->offset < 0 || range->length < 0 || range->offset > size - range->length) {
    return arrow::Status::Invalid("Encoded fragment refers to bytes beyond its segment");
  }
  return arrow::Status::OK();
}

arrow::Result<ArrayReference> PlanDecoder::GetReference() {
  if (++depth_ > kMaxDepth) return arrow::Status::Invalid("Encoded column is too deep");
  ArrayReference reference;
  ARROW_RETURN_NOT_OK(bytes_.Get(&reference.length));
  ARROW_RETURN_NOT_OK(bytes_.Get(&reference.null_count));
  ARROW_RETURN_NOT_OK(bytes_.Get(&reference.offset));
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  reference.buffers.resize(static_cast<size_t>(count));
  for (auto& buffer : reference.buffers) {
    ARROW_RETURN_NOT_OK(bytes_.Get(&buffer.present));
    ARROW_RETURN_NOT_OK(GetRange(&buffer.segment, &buffer.range));
  }
  for (auto* parts : {&reference.children, &reference.dictionary}) {
    ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
    for (int64_t i = 0; i < count; ++i) {
      ARROW_ASSIGN_OR_RAISE(auto part, GetReference());
      parts->push_back(std::move(part));
    }
  }
  --depth_;
  return reference;
}

arrow::Result<std::shared_ptr<arrow::Schema>> PlanDecoder::GetSchema() {
  bool present = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&present));
  if (!present) return nullptr;
  std::shared_ptr<arrow::Buffer> buffer;
  ARROW_RETURN_NOT_OK(bytes_.Get(&buffer));
  arrow::io::BufferReader reader(buffer);
  arrow::ipc::DictionaryMemo memo;
  return arrow::ipc::ReadSchema(&reader, &memo);
}

arrow::Result<Expression> PlanDecoder::GetExpression() {
  std::shared_ptr<arrow::Buffer> buffer;
  ARROW_RETURN_NOT_OK(bytes_.Get(&buffer));
  // Arrow reads in place and wants its alignment.
  ARROW_ASSIGN_OR_RAISE(buffer, buffer->CopySlice(0, buffer->size()));
  ARROW_ASSIGN_OR_RAISE(auto expression, arrow::compute::Deserialize(buffer));
  return Expression(std::move(expression));
}

arrow::Status PlanDecoder::Get(std::vector<SortKey>* keys) {
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  keys->resize(static_cast<size_t>(count));
  for (auto& key : *keys) {
    ARROW_RETURN_NOT_OK(bytes_.Get(&key.column));
    ARROW_RETURN_NOT_OK(bytes_.Get(&key.ascending));
  }
  return arrow::Status::OK();
}

arrow::Result<NodeVariant> PlanDecoder::GetNode(NodeKind kind) {
  switch (kind) {
    case NodeKind::kScan:
      return GetScan();
    case NodeKind::kLiteral:
      return GetLiteral();
    case NodeKind::kProject:
      return GetProject();
    case NodeKind::kFilter: {
      ARROW_ASSIGN_OR_RAISE(auto predicate, GetExpression());
      return FilterNode{std::move(predicate)};
    }
    case NodeKind::kMapNative: {
      MapNativeNode node;
      ARROW_RETURN_NOT_OK(bytes_.Get(&node.name));
      return node;
    }
    case NodeKind::kMapPython:
      return GetMapPython();
    case NodeKind::kExchange: {
      ExchangeNode node;
      ARROW_RETURN_NOT_OK(GetEnum(bytes_, &node.mode, ExchangeMode::kGather, "exchange"));
      ARROW_RETURN_NOT_OK(bytes_.Get(&node.keys));
      ARROW_RETURN_NOT_OK(bytes_.Get(&node.num_partitions));
      return node;
    }
    case NodeKind::kAggregate:
      return GetAggregate();
    case NodeKind::kJoin:
      return GetJoin();
    case NodeKind::kSort: {
      SortNode node;
      int64_t limit = -1;
      ARROW_RETURN_NOT_OK(bytes_.Get(&node.nulls_first));
      ARROW_RETURN_NOT_OK(bytes_.Get(&limit));
      ARROW_RETURN_NOT_OK(Get(&node.keys));
      if (limit >= 0) node.limit = limit;
      return node;
    }
    case NodeKind::kLimit: {
      LimitNode node;
      ARROW_RETURN_NOT_OK(bytes_.Get(&node.count));
      return node;
    }
    case NodeKind::kSample:
      return GetSample();
    case NodeKind::kUnion:
      return UnionNode{};
    case NodeKind::kZip:
      return ZipNode{};
    case NodeKind::kCache: {
      CacheNode node{.cell = std::make_shared<CacheCell>()};
      bool filled = false;
      ARROW_RETURN_NOT_OK(bytes_.Get(&filled));
      if (filled) {
        ARROW_ASSIGN_OR_RAISE(auto literal, GetLiteral());
        node.cell->Set(std::get<LiteralNode>(literal).partitions);
      }
      return node;
    }
  }
  return arrow::Status::Invalid("Encoded plan has an unknown node");
}

arrow::Result<NodeVariant> PlanDecoder::GetScan() {
  ScanNode node;
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.format));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.options));
  ARROW_ASSIGN_OR_RAISE(node.schema, GetSchema());
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  node.splits.resize(static_cast<size_t>(count));
  for (auto& split : node.splits) {
    ARROW_RETURN_NOT_OK(bytes_.Get(&split.path));
    ARROW_RETURN_NOT_OK(bytes_.Get(&split.begin));
    ARROW_RETURN_NOT_OK(bytes_.Get(&split.end));
    ARROW_RETURN_NOT_OK(bytes_.Get(&split.num_bytes));
    ARROW_RETURN_NOT_OK(bytes_.Get(&split.num_rows));
    ARROW_RETURN_NOT_OK(bytes_.Get(&split.file_bytes));
    ARROW_RETURN_NOT_OK(bytes_.Get(&split.file_modified));
    ARROW_RETURN_NOT_OK(bytes_.Get(&split.file_fingerprint));
  }
  bool present = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&present));
  if (present) {
    node.columns.emplace();
    ARROW_RETURN_NOT_OK(bytes_.Get(&*node.columns));
  }
  ARROW_RETURN_NOT_OK(bytes_.Get(&present));
  if (present) {
    ARROW_ASSIGN_OR_RAISE(auto filter, GetExpression());
    node.filter = std::move(filter);
  }
  int64_t limit = -1;
  ARROW_RETURN_NOT_OK(bytes_.Get(&limit));
  if (limit >= 0) node.limit = limit;
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.guessed));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.encodable));
  return node;
}

arrow::Result<NodeVariant> PlanDecoder::GetLiteral() {
  LiteralNode node;
  ARROW_ASSIGN_OR_RAISE(node.schema, GetSchema());
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  for (int64_t i = 0; i < count; ++i) {
    int32_t destination = 0;
    int64_t num_stores = 0;
    ARROW_RETURN_NOT_OK(bytes_.Get(&destination));
    ARROW_RETURN_NOT_OK(bytes_.GetCount(&num_stores));
    std::vector<std::shared_ptr<BlockStore>> stores;
    for (int64_t j = 0; j < num_stores; ++j) {
      ARROW_ASSIGN_OR_RAISE(auto store, GetStore(/*spillable=*/false));
      stores.push_back(std::move(store));
    }
    node.partitions.emplace_back(std::move(stores), destination);
  }
  return node;
}

arrow::Result<NodeVariant> PlanDecoder::GetProject() {
  ProjectNode node;
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.names));
  for (size_t i = 0; i < node.names.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto expression, GetExpression());
    node.expressions.push_back(std::move(expression));
  }
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.keep_input));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.drop));
  return node;
}

arrow::Result<NodeVariant> PlanDecoder::GetMapPython() {
  MapPythonNode node;
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.function_hash));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.label));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.format));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.batch_rows));
  return node;
}

arrow::Result<NodeVariant> PlanDecoder::GetAggregate() {
  AggregateNode node;
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.keys));
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  node.aggregates.resize(static_cast<size_t>(count));
  for (auto& aggregate : node.aggregates) {
    ARROW_RETURN_NOT_OK(bytes_.Get(&aggregate.function));
    bool has_column = false;
    ARROW_RETURN_NOT_OK(bytes_.Get(&has_column));
    if (has_column) ARROW_RETURN_NOT_OK(bytes_.Get(&aggregate.column.emplace()));
    ARROW_RETURN_NOT_OK(bytes_.Get(&aggregate.output));
  }
  ARROW_RETURN_NOT_OK(
      GetEnum(bytes_, &node.phase, AggregatePhase::kFinal, "aggregate phase"));
  ARROW_ASSIGN_OR_RAISE(node.schema, GetSchema());
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.ordered));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.by_last));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.all_columns));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.single));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.others));
  return node;
}

arrow::Result<NodeVariant> PlanDecoder::GetSample() {
  SampleNode node;
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.count));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.share));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.replace));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.complement));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.weights));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.seed));
  ARROW_RETURN_NOT_OK(GetEnum(bytes_, &node.phase, SamplePhase::kDraw, "sample phase"));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.num_rows));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.first_row));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.bound.key));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.bound.row));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.weight_begin));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.weight_end));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.weight_total));
  return node;
}

arrow::Result<NodeVariant> PlanDecoder::GetJoin() {
  JoinNode node;
  ARROW_RETURN_NOT_OK(GetEnum(bytes_, &node.type, JoinType::kCross, "join type"));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.left_keys));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.right_keys));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.left_suffix));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.right_suffix));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.build_left));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.shared_table));
  return node;
}

}  // namespace xshards
