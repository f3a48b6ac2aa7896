// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "ops/executors.h"
#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"
#include "xshards/catch_exceptions.h"
#include "xshards/storage/payload.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards::ops {

namespace {

class MapNativeStream final : public UnaryStream {
 public:
  MapNativeStream(const MapNativeNode& node, std::unique_ptr<BatchStream> input,
                  OperatorContext& context)
      : UnaryStream(std::move(input), context),
        label_(node.name.empty() ? "unnamed function" : "function '" + node.name + "'"),
        name_(node.name),
        function_(node.function) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (!called_) {
      called_ = true;
      ARROW_ASSIGN_OR_RAISE(auto shard, CollectInput());
      if (shard == nullptr) return nullptr;
      ARROW_ASSIGN_OR_RAISE(shard, DecodeColumns(std::move(shard), context_.pool));
      const bool rows = KindOf(*shard->schema()) == PayloadKind::kTable;
      ARROW_ASSIGN_OR_RAISE(auto output, Call(ShardView(std::move(shard))));
      if (rows) {
        output = Payload::Table(output->schema(), {output}).batches().front();
      }
      schema_ = output->schema();
      output_ = BatchSlicer(std::move(output), 4 * context_.batch_bytes);
    }
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    return output_.Next();
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>&) override {
    if (function_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(function_, FindFunction(name_));
    }
    return nullptr;
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Call(const ShardView& shard) const {
    const auto output = CatchExceptions("threw", [&] { return (*function_)(shard); });
    if (!output.ok()) return Failed(output.status());
    if (*output == nullptr) {
      return Failed(arrow::Status::Invalid("expected a batch, got a null pointer"));
    }
    arrow::Status valid = (*output)->Validate();
    if (!valid.ok()) return Failed(valid);
    return output;
  }

  arrow::Status Failed(const arrow::Status& status) const {
    return status.WithMessage(label_, " on partition ", context_.partition_index, ": ",
                              status.message());
  }

  const std::string label_;
  const std::string name_;
  std::shared_ptr<const NativeFunction> function_;
  bool called_ = false;
  BatchSlicer output_;
};

}  // namespace

OpenedNode OpenMapNative(const PlanNode& node, BatchStreams inputs,
                         OperatorContext& context) {
  return OpenUnary<MapNativeStream, MapNativeNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
