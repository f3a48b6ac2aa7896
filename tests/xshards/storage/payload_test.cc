// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/payload.h"

#include <arrow/array/builder_binary.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::Numbered;

TEST(Payload, TableCountsRowsOfAllBatches) {
  auto batch = Numbered(3);
  auto payload = Payload::Table(batch->schema(), {batch, batch});
  EXPECT_EQ(payload.kind(), PayloadKind::kTable);
  EXPECT_EQ(payload.num_rows(), 6);
  EXPECT_EQ(Payload::Table(batch->schema(), {}).num_rows(), 0);
}

TEST(Payload, TensorsKeepDtypeShapeStructureAndShareTheirBytes) {
  auto data = arrow::Buffer::FromString(std::string(24, 'x'));
  ASSERT_OK_AND_ASSIGN(
      auto payload,
      Payload::Tensors(
          {{.dtype = "<f4", .shape = {2, 3}, .data = data},
           {.dtype = "|u1", .shape = {}, .data = arrow::Buffer::FromString("7")},
           {.dtype = "<f8", .shape = {0, 4}, .data = arrow::Buffer::FromString("")}},
          R"({"x": 0, "y": [1, 2]})"));
  auto again = Payload::FromBatch(payload.batches()[0]);
  EXPECT_EQ(again.kind(), PayloadKind::kTensors);
  ASSERT_OK_AND_ASSIGN(auto leaves, again.tensor_leaves());
  ASSERT_EQ(leaves.size(), 3);
  EXPECT_EQ(leaves[0].dtype, "<f4");
  EXPECT_EQ(leaves[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(leaves[0].data->data(), data->data());
  EXPECT_TRUE(leaves[1].shape.empty());
  EXPECT_EQ(leaves[1].data->ToString(), "7");
  EXPECT_EQ(leaves[2].shape, (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(leaves[2].data->size(), 0);
  ASSERT_OK_AND_ASSIGN(auto structure, again.tensor_structure());
  EXPECT_EQ(structure, R"({"x": 0, "y": [1, 2]})");
}

TEST(Payload, ObjectKeepsItsPickleAndBuffersInOrder) {
  auto pickle = arrow::Buffer::FromString("pickle");
  auto extra = arrow::Buffer::FromString("extra");
  ASSERT_OK_AND_ASSIGN(auto payload, Payload::Object(pickle, {extra}));
  auto again = Payload::FromBatch(payload.batches()[0]);
  EXPECT_EQ(again.kind(), PayloadKind::kObject);
  ASSERT_OK_AND_ASSIGN(auto buffers, again.object_buffers());
  ASSERT_EQ(buffers.size(), 2);
  EXPECT_EQ(buffers[0]->ToString(), "pickle");
  EXPECT_EQ(buffers[1]->data(), extra->data());
}

TEST(Payload, AnotherPayloadKindIsATypeError) {
  auto batch = Numbered(1);
  auto table = Payload::Table(batch->schema(), {batch});
  EXPECT_FAILS(TypeError, "Expected a Tensors payload, got a Table",
               table.tensor_leaves());
  EXPECT_FAILS(TypeError, "Expected a Object payload, got a Table",
               table.object_buffers());
}

std::shared_ptr<arrow::RecordBatch> Marked(
    const std::shared_ptr<arrow::RecordBatch>& rows, const std::string& kind) {
  return rows->ReplaceSchemaMetadata(arrow::key_value_metadata(
      {"xshards.payload", "xshards.structure", "other"}, {kind, "0", "kept"}));
}

TEST(Payload, RowsOfATableNeverClaimAnotherKind) {
  arrow::LargeBinaryBuilder builder;
  ASSERT_OK(builder.Append("not ours"));
  ASSERT_OK_AND_ASSIGN(auto column, builder.Finish());
  const auto rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", arrow::large_binary())}), 1, {column});
  for (const char* kind : {"object", "tensors", "", "nonsense"}) {
    const auto batch = Marked(rows, kind);
    const auto table = Payload::Table(batch->schema(), {batch});
    EXPECT_EQ(KindOf(*table.schema()), PayloadKind::kTable) << kind;
    ASSERT_EQ(table.batches().size(), 1U);
    EXPECT_EQ(Payload::FromBatch(table.batches()[0]).kind(), PayloadKind::kTable) << kind;
    EXPECT_EQ(table.schema()->metadata()->keys(), std::vector<std::string>{"other"});
  }
}

TEST(Payload, ColumnsOfOtherTypesAreATable) {
  for (const char* kind : {"object", "tensors"}) {
    EXPECT_EQ(Payload::FromBatch(Marked(Numbered(3), kind)).kind(), PayloadKind::kTable);
  }
}

TEST(Payload, DamagedNotesOfArraysAreErrors) {
  arrow::LargeBinaryBuilder builder;
  ASSERT_OK(builder.Append("12345678"));
  ASSERT_OK_AND_ASSIGN(auto column, builder.Finish());
  const auto tensors = [&](const std::shared_ptr<const arrow::KeyValueMetadata>& notes,
                           int64_t rows) {
    const auto field = arrow::field("0", arrow::large_binary(), false, notes);
    const auto values = rows == 1 ? column : column->Slice(0, rows);
    return Payload::FromBatch(Marked(
        arrow::RecordBatch::Make(arrow::schema({field}), rows, {values}), "tensors"));
  };
  EXPECT_FAILS(Invalid, "no metadata", tensors(nullptr, 1).tensor_leaves());
  for (const char* shape : {"8", "x,", "-1,", "99999999999999999999,", ",", "1,,"}) {
    EXPECT_FAILS(Invalid, "Expected the shape of an array",
                 tensors(arrow::key_value_metadata({"dtype", "shape"}, {"<i8", shape}), 1)
                     .tensor_leaves());
  }
  EXPECT_FAILS(Invalid, "Expected one large_binary value, got 0",
               tensors(arrow::key_value_metadata({"dtype", "shape"}, {"<i8", "1,"}), 0)
                   .tensor_leaves());
}

}  // namespace
}  // namespace xshards
