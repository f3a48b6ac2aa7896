// SPDX-License-Identifier: Apache-2.0
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include <arrow/compute/expression.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>

#include "xshards/expression/expression_graph.h"
#include "xshards/plan/codec.h"
#include "xshards/plan/node_members.h"

namespace xshards {

namespace {

// Deeper than any real plan; stops damaged bytes from recursing without end.
constexpr int kMaxDepth = 1000;

/// A value to read into.
template <typename T>
T Blank() {
  if constexpr (std::same_as<T, Expression>) {
    return lit(false);
  } else {
    return T{};
  }
}

/// The numbers of inputs that a node of a kind may have.
struct InputRange {
  int64_t min = 1;
  int64_t max = 1;
};

InputRange InputsOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kScan:
    case NodeKind::kLiteral:
    case NodeKind::kStageInput:
      return {0, 0};
    case NodeKind::kJoin:
    case NodeKind::kZip:
      return {2, 2};
    case NodeKind::kMapPython:
      return {1, 2};
    case NodeKind::kUnion:
      return {1, std::numeric_limits<int64_t>::max()};
    default:
      return {};
  }
}

/// Schemas and executors take the inputs of a node by position.
arrow::Status CheckInputs(NodeKind kind, int64_t count) {
  const auto [min, max] = InputsOf(kind);
  if (count >= min && count <= max) return arrow::Status::OK();
  return arrow::Status::Invalid("Encoded plan has a ", ToString(kind), " of ", count,
                                " inputs");
}

}  // namespace

arrow::Result<Plan> PlanDecoder::GetPlan() {
  if (++depth_ > kMaxDepth) return arrow::Status::Invalid("Encoded plan is too deep");
  NodeKind kind{};
  ARROW_RETURN_NOT_OK(GetMember(&kind));
  ARROW_ASSIGN_OR_RAISE(auto node, GetNode(kind));
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  ARROW_RETURN_NOT_OK(CheckInputs(kind, count));
  std::vector<Plan> inputs;
  for (int64_t i = 0; i < count; ++i) {
    ARROW_ASSIGN_OR_RAISE(auto input, GetPlan());
    inputs.push_back(std::move(input));
  }
  --depth_;
  // Fragments run without a schema: expressions of unknown origin are not compiled here.
  return std::make_shared<const PlanNode>(
      PlanNode{std::move(node), std::move(inputs), nullptr});
}

arrow::Status PlanDecoder::Get(SinkSpec* sink) { return GetMember(sink); }

template <typename T>
arrow::Status PlanDecoder::GetMember(T* value) {
  if constexpr (std::is_enum_v<T>) {
    ARROW_RETURN_NOT_OK(bytes_.Get(value));
    constexpr EnumLimit<T> limit = LimitOf(T{});
    if (*value <= limit.last) return arrow::Status::OK();
    return arrow::Status::Invalid("Encoded plan has an unknown ", limit.name, ": ",
                                  static_cast<int>(*value));
  } else if constexpr (requires { bytes_.Get(value); }) {
    return bytes_.Get(value);
  } else {
    return VisitMembers(*value, [this](auto&... members) {
      arrow::Status status;
      // Stops at the first that fails. A node without members does not use `this`.
      static_cast<void>(this);
      static_cast<void>(((status = GetMember(&members)).ok() && ...));
      return status;
    });
  }
}

template <typename T>
arrow::Status PlanDecoder::GetMember(std::optional<T>* value) {
  bool present = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&present));
  if (!present) return arrow::Status::OK();
  T held = Blank<T>();
  ARROW_RETURN_NOT_OK(GetMember(&held));
  *value = std::move(held);
  return arrow::Status::OK();
}

template <typename T>
arrow::Status PlanDecoder::GetMember(std::vector<T>* values) {
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  for (int64_t i = 0; i < count; ++i) {
    values->push_back(Blank<T>());
    ARROW_RETURN_NOT_OK(GetMember(&values->back()));
  }
  return arrow::Status::OK();
}

arrow::Status PlanDecoder::GetMember(std::shared_ptr<arrow::RecordBatch>* batch) {
  bool present = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&present));
  if (!present) return arrow::Status::OK();
  std::shared_ptr<arrow::Buffer> buffer;
  ARROW_RETURN_NOT_OK(bytes_.Get(&buffer));
  // The preceding bytes may have any length, so values may be unaligned.
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        arrow::ipc::RecordBatchStreamReader::Open(
                            std::make_shared<arrow::io::BufferReader>(buffer), options));
  ARROW_RETURN_NOT_OK(reader->Next().Value(batch));
  return *batch == nullptr ? arrow::Status::OK() : (*batch)->ValidateFull();
}

arrow::Status PlanDecoder::GetMember(ResultHandle* id) {
  bool present = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&present));
  if (!present) return arrow::Status::OK();
  ResultId held;
  ARROW_RETURN_NOT_OK(GetMember(&held));
  *id = std::make_shared<const ResultId>(held);
  return arrow::Status::OK();
}

arrow::Status PlanDecoder::GetMember(FormatOptionsPointer* options) {
  bool present = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&present));
  if (!present) return arrow::Status::OK();
  std::shared_ptr<arrow::Buffer> encoded;
  ARROW_RETURN_NOT_OK(bytes_.Get(&encoded));
  *options = std::make_shared<const EncodedOptions>(std::move(encoded));
  return arrow::Status::OK();
}

arrow::Status PlanDecoder::GetMember(std::shared_ptr<arrow::Schema>* schema) {
  return GetSchema().Value(schema);
}

arrow::Status PlanDecoder::GetMember(Expression* expression) {
  return GetExpression().Value(expression);
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
    if (block.destination < 0 || block.num_rows < 0 || block.num_bytes < 0) {
      return arrow::Status::Invalid("Encoded block has destination ", block.destination,
                                    ", ", block.num_rows, " rows and ", block.num_bytes,
                                    " bytes");
    }
    if (schema < 0 || schema >= num_schemas) {
      return arrow::Status::Invalid("Encoded fragment refers to schema ", schema, " of ",
                                    num_schemas);
    }
    block.schema = schemas[static_cast<size_t>(schema)];
    if (block.schema == nullptr) {
      return arrow::Status::Invalid("Encoded block has no schema");
    }
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
    return arrow::Status::Invalid(
        "Encoded fragment refers to bytes past the end of its segment");
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
  bool is_column = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&is_column));
  ExpressionTrees parts;
  ARROW_RETURN_NOT_OK(bytes_.Get(&parts.prefix));
  if (is_column) return col(std::move(parts.prefix));
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
  for (int64_t i = 0; i < count; ++i) {
    std::shared_ptr<arrow::Buffer> buffer;
    ARROW_RETURN_NOT_OK(bytes_.Get(&buffer));
    // Arrow reads in place and requires alignment.
    ARROW_ASSIGN_OR_RAISE(buffer, buffer->CopySlice(0, buffer->size()));
    ARROW_ASSIGN_OR_RAISE(auto tree, arrow::compute::Deserialize(buffer));
    parts.trees.push_back(std::move(tree));
  }
  if (parts.trees.empty()) {
    return arrow::Status::Invalid("Encoded expression has no parts");
  }
  return Expression(JoinSharedParts(parts));
}

template <typename Node>
arrow::Result<NodeVariant> PlanDecoder::GetNode() {
  Node node;
  ARROW_RETURN_NOT_OK(GetMember(&node));
  return node;
}

arrow::Result<NodeVariant> PlanDecoder::GetNode(NodeKind kind) {
  switch (kind) {
    case NodeKind::kScan:
      return GetNode<ScanNode>();
    case NodeKind::kLiteral:
      return GetLiteral();
    case NodeKind::kProject:
      return GetProject();
    case NodeKind::kFilter: {
      ARROW_ASSIGN_OR_RAISE(auto predicate, GetExpression());
      return FilterNode{std::move(predicate)};
    }
    case NodeKind::kMapNative:
      return GetNode<MapNativeNode>();
    case NodeKind::kMapPython:
      return GetNode<MapPythonNode>();
    case NodeKind::kExchange:
      return GetNode<ExchangeNode>();
    case NodeKind::kAggregate:
      return GetNode<AggregateNode>();
    case NodeKind::kDistinct:
      return GetNode<DistinctNode>();
    case NodeKind::kJoin:
      return GetNode<JoinNode>();
    case NodeKind::kSort:
      return GetNode<SortNode>();
    case NodeKind::kLimit:
      return GetNode<LimitNode>();
    case NodeKind::kSample:
      return GetNode<SampleNode>();
    case NodeKind::kUnion:
      return UnionNode{};
    case NodeKind::kZip:
      return ZipNode{};
    case NodeKind::kCache:
      return GetCache();
    case NodeKind::kStageInput:
      return GetStageInput();
  }
  return arrow::Status::Invalid("Encoded plan has an unknown node");
}

arrow::Result<NodeVariant> PlanDecoder::GetProject() {
  ProjectNode node;
  ARROW_RETURN_NOT_OK(GetMember(&node));
  if (node.names.size() == node.expressions.size()) return node;
  return arrow::Status::Invalid("Encoded projection has ", node.names.size(),
                                " names for ", node.expressions.size(), " expressions");
}

arrow::Result<NodeVariant> PlanDecoder::GetCache() {
  CacheNode node;
  ARROW_RETURN_NOT_OK(GetMember(&node.id));
  bool filled = false;
  ARROW_RETURN_NOT_OK(bytes_.Get(&filled));
  if (!filled) return node;
  ARROW_ASSIGN_OR_RAISE(auto literal, GetLiteral());
  node.partitions = std::make_shared<const std::vector<Partition>>(
      std::move(std::get<LiteralNode>(literal).partitions));
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

arrow::Result<NodeVariant> PlanDecoder::GetStageInput() {
  StageInputNode node;
  StageReference stage;
  ARROW_RETURN_NOT_OK(bytes_.Get(&stage.number));
  node.stage = std::make_shared<const StageReference>(stage);
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.partitions));
  ARROW_ASSIGN_OR_RAISE(node.schema, GetSchema());
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.num_rows));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.num_bytes));
  ARROW_RETURN_NOT_OK(bytes_.Get(&node.as_stored));
  return node;
}

}  // namespace xshards
