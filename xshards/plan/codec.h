// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/plan/byte_codec.h"
#include "xshards/plan/plan.h"
#include "xshards/plan/sink.h"

namespace xshards {

/// Writes plans, sinks and stores. Data that cannot be encoded is collected separately:
/// segments are sent by descriptor, Python functions by hash.
class PlanEncoder {
 public:
  /// `known` are segments that the receiver already has, in its order.
  explicit PlanEncoder(StorageEnvironment environment,
                       std::vector<std::shared_ptr<Segment>> known = {})
      : environment_(environment), segments_(std::move(known)) {}

  arrow::Status Put(const PlanNode& plan);
  arrow::Status Put(const SinkSpec& sink);
  /// All blocks of a store whose blocks are in segments.
  arrow::Status Put(const BlockStore& store);
  /// Some blocks of a store.
  arrow::Status Put(BlockStore& store, std::span<const Partition::BlockPlace> some);

  ByteWriter& bytes() { return bytes_; }
  const std::vector<std::shared_ptr<Segment>>& segments() const { return segments_; }
  const std::map<std::string, std::shared_ptr<arrow::Buffer>>& functions() const {
    return functions_;
  }

 private:
  arrow::Status PutBlocks(const std::vector<BlockStore::Block>& blocks);
  // Members of nodes, each by its type; see node_members.h.
  template <typename T>
  arrow::Status PutMember(const T& value);
  template <typename T>
  arrow::Status PutMember(const std::optional<T>& value);
  template <typename T>
  arrow::Status PutMember(const std::vector<T>& values);
  arrow::Status PutMember(const Expression& expression);
  arrow::Status PutMember(const std::shared_ptr<arrow::Schema>& schema);
  arrow::Status PutMember(const std::shared_ptr<arrow::RecordBatch>& batch);
  arrow::Status PutMember(const ResultHandle& id);
  arrow::Status PutMember(const FormatOptionsPointer& options);
  void PutRange(const std::shared_ptr<Segment>& segment, Segment::Range range);
  void PutReference(const ArrayReference& reference);

  template <typename Node>
  arrow::Status PutNode(const Node& node) {
    return PutMember(node);
  }
  arrow::Status PutNode(const LiteralNode& node);
  arrow::Status PutNode(const FilterNode& node) { return PutMember(node.predicate); }
  arrow::Status PutNode(const MapNativeNode& node);
  arrow::Status PutNode(const MapPythonNode& node);
  arrow::Status PutNode(const CacheNode& node);
  arrow::Status PutNode(const StageInputNode& node);

  StorageEnvironment environment_;
  ByteWriter bytes_;
  std::vector<std::shared_ptr<Segment>> segments_;
  std::map<std::string, std::shared_ptr<arrow::Buffer>> functions_;
};

/// Reads the output of PlanEncoder.
class PlanDecoder {
 public:
  PlanDecoder(std::shared_ptr<arrow::Buffer> bytes,
              std::span<const std::shared_ptr<Segment>> segments,
              StorageEnvironment environment)
      : bytes_(std::move(bytes)), segments_(segments), environment_(environment) {}

  arrow::Result<Plan> GetPlan();
  arrow::Status Get(SinkSpec* sink);
  /// `spillable`: see BlockStore::FromBlocks.
  arrow::Result<std::shared_ptr<BlockStore>> GetStore(bool spillable);

  ByteReader& bytes() { return bytes_; }

 private:
  arrow::Result<std::shared_ptr<arrow::Schema>> GetSchema();
  arrow::Result<Expression> GetExpression();
  arrow::Status GetRange(std::shared_ptr<Segment>* segment, Segment::Range* range);
  arrow::Result<ArrayReference> GetReference();
  // Members of nodes, each by its type; see node_members.h.
  template <typename T>
  arrow::Status GetMember(T* value);
  template <typename T>
  arrow::Status GetMember(std::optional<T>* value);
  template <typename T>
  arrow::Status GetMember(std::vector<T>* values);
  arrow::Status GetMember(Expression* expression);
  arrow::Status GetMember(std::shared_ptr<arrow::Schema>* schema);
  arrow::Status GetMember(std::shared_ptr<arrow::RecordBatch>* batch);
  arrow::Status GetMember(ResultHandle* id);
  arrow::Status GetMember(FormatOptionsPointer* options);
  template <typename Node>
  arrow::Result<NodeVariant> GetNode();
  arrow::Result<NodeVariant> GetNode(NodeKind kind);
  arrow::Result<NodeVariant> GetLiteral();
  arrow::Result<NodeVariant> GetProject();
  arrow::Result<NodeVariant> GetCache();
  arrow::Result<NodeVariant> GetStageInput();

  ByteReader bytes_;
  std::span<const std::shared_ptr<Segment>> segments_;
  StorageEnvironment environment_;
  int depth_ = 0;
};

}  // namespace xshards
