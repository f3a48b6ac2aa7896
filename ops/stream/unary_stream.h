// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/executors.h"
#include "xshards/execution/operator_table.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::ops {

/// Pulls an executor's input: stops when asked to, and checks that every batch has the
/// schema of the first, which typed loops rely on.
class Input {
 public:
  Input(std::unique_ptr<BatchStream> stream, const OperatorContext& context)
      : stream_(std::move(stream)), context_(context) {}

  /// nullptr until it is known.
  const std::shared_ptr<arrow::Schema>& schema() const;
  /// The next batch, or nullptr at the end; may be called again after the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next();
  /// All that is left as one batch, empty if there is none; nullptr if the input ended
  /// without telling its schema.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Collect();
  /// Stop the producers; Next() gives nullptr from now on.
  void Close() { stream_.reset(); }

 private:
  std::unique_ptr<BatchStream> stream_;
  const OperatorContext& context_;
  std::shared_ptr<arrow::Schema> schema_;
};

/// The base of executors with one input.
class UnaryStream : public BatchStream {
 public:
  UnaryStream(std::unique_ptr<BatchStream> input, OperatorContext& context);

  const std::shared_ptr<arrow::Schema>& schema() const final { return schema_; }

  /// Prepare now if the input's schema is known; called once, by OpenUnary.
  arrow::Status PrepareIfKnown();

 protected:
  /// Called once, as soon as the input's schema is known: bind to it and return the
  /// output's schema, or nullptr if only running tells.
  virtual arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) = 0;

  /// The next input batch, or nullptr at the end; prepares first where not done yet.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextInput();
  /// All that is left of the input as one batch; see Input::Collect.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> CollectInput();
  void CloseInput() { input_.Close(); }
  /// False if the input ended without telling its schema: then there is no output.
  bool prepared() const { return prepared_; }
  const std::shared_ptr<arrow::Schema>& input_schema() const { return input_.schema(); }

  OperatorContext& context_;
  arrow::compute::ExecContext exec_;  // on the context's pool, single-threaded
  std::shared_ptr<arrow::Schema> schema_;

 private:
  Input input_;
  bool prepared_ = false;
};

template <typename Stream, typename Node>
OpenedNode OpenUnary(const PlanNode& node, BatchStreams inputs,
                     OperatorContext& context) {
  auto stream =
      std::make_unique<Stream>(node.as<Node>(), std::move(inputs.at(0)), context);
  ARROW_RETURN_NOT_OK(stream->PrepareIfKnown());
  return stream;
}

}  // namespace xshards::ops
