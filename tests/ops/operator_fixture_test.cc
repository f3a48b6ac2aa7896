// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/operator_fixture.h"

#include <filesystem>
#include <utility>

#include <arrow/compute/initialize.h>
#include <arrow/json/from_string.h>

#include "ops/operators.h"
#include "ops/stream/batch_slicing.h"

namespace xshards::ops {

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& json) {
  return Get(arrow::json::ArrayFromJSONString(type, json));
}

std::shared_ptr<arrow::RecordBatch> Batch(const std::vector<JsonColumn>& columns) {
  std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> arrays;
  for (const auto& column : columns) {
    arrays.emplace_back(column.name, Json(column.type, column.values));
  }
  return Batch(arrays);
}

std::shared_ptr<arrow::Array> Strings(const std::vector<std::string>& values,
                                      const std::vector<bool>& valid) {
  arrow::LargeStringBuilder builder;
  for (size_t i = 0; i < values.size(); ++i) {
    Check(valid.empty() || valid[i] ? builder.Append(values[i]) : builder.AppendNull());
  }
  return Get(builder.Finish());
}

std::shared_ptr<arrow::RecordBatch> Batch(
    const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  const int64_t length = arrays.at(0)->length();
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), length,
                                  std::move(arrays));
}

arrow::RecordBatchVector Cut(const std::shared_ptr<arrow::RecordBatch>& batch,
                             int64_t rows) {
  arrow::RecordBatchVector pieces;
  for (int64_t at = 0; at < batch->num_rows(); at += rows) {
    pieces.push_back(batch->Slice(at, rows));
  }
  if (pieces.empty()) pieces.push_back(batch);
  return pieces;
}

OperatorTest::OperatorTest() {
  Check(arrow::compute::Initialize());
  segments_ = Get(SegmentPool::Make(std::filesystem::temp_directory_path().string(),
                                    &budget_, int64_t{1} << 20));
  AddOperators(table_);
  context_.pool = budget_.pool();
  context_.storage = {&budget_, segments_.get()};
  context_.metrics = &metrics_;
}

arrow::Result<std::unique_ptr<BatchStream>> OperatorTest::OpenStreams(
    const NodeVariant& node, BatchStreams inputs) {
  const Plan plan = MakeNode(node);
  ARROW_ASSIGN_OR_RAISE(const OpenNode* open, table_.Find(*plan));
  return (*open)(*plan, std::move(inputs), context_);
}

arrow::Result<std::unique_ptr<BatchStream>> OperatorTest::Open(
    const NodeVariant& node, const std::vector<arrow::RecordBatchVector>& inputs) {
  BatchStreams streams;
  for (const auto& batches : inputs) {
    streams.push_back(std::make_unique<VectorStream>(batches.at(0)->schema(), batches));
  }
  return OpenStreams(node, std::move(streams));
}

arrow::Result<std::unique_ptr<BatchStream>> OperatorTest::OpenLate(
    const NodeVariant& node, const std::vector<arrow::RecordBatchVector>& inputs) {
  BatchStreams streams;
  for (const auto& batches : inputs) {
    streams.push_back(
        std::make_unique<LateSchemaStream>(batches.at(0)->schema(), batches));
  }
  return OpenStreams(node, std::move(streams));
}

arrow::Result<arrow::RecordBatchVector> OperatorTest::Run(
    const NodeVariant& node, const std::vector<arrow::RecordBatchVector>& inputs) {
  ARROW_ASSIGN_OR_RAISE(auto stream, Open(node, inputs));
  return ReadAll(*stream);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> OperatorTest::RunToBatch(
    const NodeVariant& node, const std::vector<arrow::RecordBatchVector>& inputs) {
  ARROW_ASSIGN_OR_RAISE(auto stream, Open(node, inputs));
  ARROW_ASSIGN_OR_RAISE(auto batches, ReadAll(*stream));
  for (const auto& batch : batches) {
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    EXPECT_TRUE(batch->schema()->Equals(*stream->schema()))
        << batch->schema()->ToString() << "\nbut it said\n"
        << stream->schema()->ToString();
  }
  return Concatenate(stream->schema(), batches, context_.pool);
}

arrow::Result<arrow::RecordBatchVector> OperatorTest::RunSink(
    const SinkSpec& spec, const arrow::RecordBatchVector& input) {
  ARROW_ASSIGN_OR_RAISE(const xshards::RunSink* run, table_.FindSink(spec));
  VectorStream stream(input.at(0)->schema(), input);
  BlockWriter writer(context_.storage, spec.storage);
  ARROW_RETURN_NOT_OK((*run)(spec, stream, writer, context_));
  ARROW_ASSIGN_OR_RAISE(auto store, writer.Finish());
  std::vector<arrow::RecordBatchVector> blocks(static_cast<size_t>(spec.num_partitions));
  const auto index = store->blocks();
  for (size_t i = 0; i < index.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto batch, store->ReadBlock(i));
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    blocks.at(static_cast<size_t>(index[i].destination)).push_back(std::move(batch));
  }
  arrow::RecordBatchVector joined;
  for (auto& batches : blocks) {
    if (batches.empty()) {
      joined.push_back(nullptr);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto batch,
                          Concatenate(batches[0]->schema(), batches, context_.pool));
    joined.push_back(std::move(batch));
  }
  return joined;
}

void ExpectArray(const std::shared_ptr<arrow::Array>& actual,
                 const std::shared_ptr<arrow::Array>& expected) {
  EXPECT_TRUE(actual->Equals(*expected, arrow::EqualOptions::Defaults().nans_equal(true)))
      << "actual (" << actual->type()->ToString() << ")\n"
      << actual->ToString() << "\nexpected (" << expected->type()->ToString() << ")\n"
      << expected->ToString();
}

void ExpectBatch(const std::shared_ptr<arrow::RecordBatch>& actual,
                 const std::shared_ptr<arrow::RecordBatch>& expected) {
  ASSERT_NE(actual, nullptr);
  EXPECT_TRUE(actual->Equals(*expected, /*check_metadata=*/false,
                             arrow::EqualOptions::Defaults().nans_equal(true)))
      << "actual\n"
      << actual->ToString() << "\nexpected\n"
      << expected->ToString();
}

TEST_F(OperatorTest, ReadsTheOutputOfASink) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 2]"}});
  const auto rows = Get(
      RunSink({.kind = SinkKind::kPartition, .mode = ExchangeMode::kGather}, {batch}));
  ExpectBatch(rows.at(0), batch);
}

}  // namespace xshards::ops
