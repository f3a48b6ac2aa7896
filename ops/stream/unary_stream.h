// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/executors.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::ops {

/// Pulls an executor's input: stops on request, and checks that every batch has the
/// schema of the first, which typed loops rely on.
class Input {
 public:
  Input(std::unique_ptr<BatchStream> stream, const OperatorContext& context)
      : stream_(std::move(stream)), context_(context) {}

  /// nullptr until it is known.
  const std::shared_ptr<arrow::Schema>& schema() const;
  /// The next batch, or nullptr at the end; may be called again after the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next();
  /// All remaining rows as one batch, perhaps empty; nullptr if the input ended with an
  /// unknown schema.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Collect();
  /// Stop the producers; Next() returns nullptr from now on.
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
  /// output's schema, or nullptr if it is only known at run time.
  virtual arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) = 0;

  /// The next input batch, or nullptr at the end; prepares first if not done yet.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextInput();
  /// All remaining input as one batch; see Input::Collect.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> CollectInput();
  void CloseInput() { input_.Close(); }
  /// False if the input ended with an unknown schema: then there is no output.
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
