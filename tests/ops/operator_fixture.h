// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/cancel.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/memory/segment_pool.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"
#include "xshards/storage/block_store.h"

namespace xshards::ops {

/// Unwrap a Result in a test, or throw, which fails it.
template <typename T>
T Get(arrow::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return result.MoveValueUnsafe();
}
inline void Check(const arrow::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

/// Arrays and batches out of JSON: Batch({{"a", arrow::int64(), "[1, null]"}, ...}).
std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& json);
struct JsonColumn {
  std::string name;
  std::shared_ptr<arrow::DataType> type;
  std::string values;
};
std::shared_ptr<arrow::RecordBatch> Batch(const std::vector<JsonColumn>& columns);
/// One column of values, null where `valid` is false.
template <typename T>
std::shared_ptr<arrow::Array> Column(const std::vector<T>& values,
                                     const std::vector<bool>& valid = {}) {
  typename arrow::CTypeTraits<T>::BuilderType builder;
  Check(valid.empty() ? builder.AppendValues(values)
                      : builder.AppendValues(values, valid));
  return Get(builder.Finish());
}
std::shared_ptr<arrow::Array> Strings(const std::vector<std::string>& values,
                                      const std::vector<bool>& valid = {});
std::shared_ptr<arrow::RecordBatch> Batch(
    const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>& columns);

/// Cut a batch into batches of at most `rows` rows.
arrow::RecordBatchVector Cut(const std::shared_ptr<arrow::RecordBatch>& batch,
                             int64_t rows);

/// A stream whose schema is known only once its first batch was read, as that of a
/// function's output is.
class LateSchemaStream final : public BatchStream {
 public:
  LateSchemaStream(std::shared_ptr<arrow::Schema> schema,
                   arrow::RecordBatchVector batches)
      : late_(schema), inner_(std::move(schema), std::move(batches)) {}
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    schema_ = late_;
    return inner_.Next();
  }

 private:
  const std::shared_ptr<arrow::Schema> late_;
  std::shared_ptr<arrow::Schema> schema_;
  VectorStream inner_;
};

/// Runs one executor over batches in memory.
class OperatorTest : public ::testing::Test {
 protected:
  OperatorTest();

  /// Open a node over inputs given as batches (at least one each, for the schema).
  arrow::Result<std::unique_ptr<BatchStream>> Open(
      const NodeVariant& node, const std::vector<arrow::RecordBatchVector>& inputs);
  arrow::Result<std::unique_ptr<BatchStream>> OpenLate(
      const NodeVariant& node, const std::vector<arrow::RecordBatchVector>& inputs);
  arrow::Result<std::unique_ptr<BatchStream>> OpenStreams(const NodeVariant& node,
                                                          BatchStreams inputs);
  /// Run it to its end; returns the batches and the declared schema.
  arrow::Result<arrow::RecordBatchVector> Run(
      const NodeVariant& node, const std::vector<arrow::RecordBatchVector>& inputs);
  /// The same concatenated to one batch, checked to be valid and of the declared schema.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> RunToBatch(
      const NodeVariant& node, const std::vector<arrow::RecordBatchVector>& inputs);
  /// Run a sink; the rows of each destination joined to one batch (nullptr: no block).
  arrow::Result<arrow::RecordBatchVector> RunSink(const SinkSpec& spec,
                                                  const arrow::RecordBatchVector& input);

  MemoryBudget budget_{int64_t{1} << 30};
  std::unique_ptr<SegmentPool> segments_;
  OperatorTable table_;
  FragmentMetrics metrics_;
  OperatorContext context_;
};

/// Fails with both batches printed if they differ; NaN equals NaN, metadata is ignored.
void ExpectBatch(const std::shared_ptr<arrow::RecordBatch>& actual,
                 const std::shared_ptr<arrow::RecordBatch>& expected);
void ExpectArray(const std::shared_ptr<arrow::Array>& actual,
                 const std::shared_ptr<arrow::Array>& expected);

}  // namespace xshards::ops
