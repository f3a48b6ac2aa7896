// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/array_reference.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/xshards/memory/private_segment.h"
#include "xshards/storage/block_store.h"

namespace xshards {
namespace {

using testing::Array;
using testing::Numbered;
using testing::PrivateSegment;
using Found = std::vector<bool>;

constexpr int64_t kRows = 10000;

/// Publishes a batch as a worker does, and reads it back.
struct Published {
  std::shared_ptr<BlockStore> store;
  std::shared_ptr<arrow::RecordBatch> batch;
  int64_t bytes_written = 0;
};

Published Publish(PrivateSegment& input,
                  const std::shared_ptr<arrow::RecordBatch>& batch) {
  BlockWriter writer(input.environment(), Storage::kShared);
  EXPECT_TRUE(writer.Append(0, batch).ok());
  Published published;
  published.bytes_written = writer.bytes_written();
  published.store = writer.Finish().ValueOrDie();
  published.batch = published.store->ReadBlock(0).ValueOrDie();
  EXPECT_TRUE(published.batch->ValidateFull().ok());
  return published;
}

std::shared_ptr<arrow::RecordBatch> OneColumn(
    const std::shared_ptr<arrow::Array>& column) {
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("x", column->type())}),
                                  column->length(), {column});
}

std::shared_ptr<arrow::Array> Repeated(const std::shared_ptr<arrow::Array>& few) {
  return arrow::Concatenate(arrow::ArrayVector(500, few)).ValueOrDie();
}

TEST(ArrayReference, UnchangedColumnsAreNotWritten) {
  PrivateSegment input(*Numbered(kRows));
  EXPECT_EQ(FindReferences(*input.batch(), input.memory()), (Found{true, true, true}));
  auto published = Publish(input, input.batch());
  EXPECT_EQ(published.bytes_written, 0);
  EXPECT_EQ(published.store->storage(), Storage::kShared);
  EXPECT_TRUE(published.batch->Equals(*Numbered(kRows)));
}

TEST(ArrayReference, SomeColumnsAndRowsArePassedByReference) {
  PrivateSegment input(*Numbered(kRows));
  auto some = input.batch()->SelectColumns({2, 1}).ValueOrDie()->Slice(1001, 7003);
  auto published = Publish(input, some);
  EXPECT_EQ(published.bytes_written, 0);
  EXPECT_TRUE(published.batch->Equals(
      *Numbered(kRows)->SelectColumns({2, 1}).ValueOrDie()->Slice(1001, 7003)));
}

TEST(ArrayReference, AChangedColumnIsWrittenAsItIsNow) {
  PrivateSegment input(*Numbered(kRows));
  input.Values<int64_t>(0)[17] = -5;
  EXPECT_EQ(FindReferences(*input.batch(), input.memory()), (Found{false, true, true}));
  auto published = Publish(input, input.batch());
  EXPECT_GE(published.bytes_written, 8 * kRows);
  EXPECT_LT(published.bytes_written, 8 * kRows + 2000);
  const auto& ids = static_cast<const arrow::Int64Array&>(*published.batch->column(0));
  EXPECT_EQ(ids.Value(17), -5);
  EXPECT_EQ(ids.Value(18), 18);
  EXPECT_TRUE(published.batch->column(1)->Equals(Numbered(kRows)->column(1)));
  EXPECT_TRUE(input.Original()->Equals(*Numbered(kRows)));
}

TEST(ArrayReference, NewColumnsAreWrittenBetweenReferences) {
  PrivateSegment input(*Numbered(kRows));
  const auto fresh = Numbered(kRows, 7, 500);
  auto mixed = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("new", arrow::int64()),
                     arrow::field("key", arrow::large_utf8()),
                     arrow::field("more", arrow::float64())}),
      kRows, {fresh->column(0), input.batch()->column(1), fresh->column(2)});
  EXPECT_EQ(FindReferences(*mixed, input.memory()), (Found{false, true, false}));
  auto published = Publish(input, mixed);
  EXPECT_TRUE(published.batch->Equals(*mixed));
  EXPECT_GE(published.bytes_written, 16 * kRows);
  EXPECT_LT(published.bytes_written, 18 * kRows);
}

TEST(ArrayReference, AFewRowsDoNotKeepASegment) {
  PrivateSegment input(*Numbered(kRows));
  EXPECT_EQ(FindReferences(*input.batch()->Slice(0, 10), input.memory()),
            (Found{false, false, false}));
  EXPECT_TRUE(Publish(input, input.batch()->Slice(5, 10))
                  .batch->Equals(*Numbered(kRows)->Slice(5, 10)));
}

TEST(ArrayReference, SmallBuffersOfAColumnAreWritten) {
  // As a function makes of an array it was lent: new offsets, the same bytes.
  PrivateSegment input(
      *OneColumn(Array(arrow::large_binary(), "[\"" + std::string(50000, 'x') + "\"]")));
  const auto& data = input.batch()->column_data(0)->buffers[2];
  auto offsets = arrow::Buffer::FromVector(std::vector<int64_t>{0, data->size()});
  auto again = OneColumn(std::make_shared<arrow::LargeBinaryArray>(1, offsets, data));
  EXPECT_EQ(FindReferences(*again, input.memory()), Found{true});
  auto published = Publish(input, again);
  EXPECT_EQ(published.bytes_written, 16);
  EXPECT_TRUE(published.batch->Equals(*input.batch()));
}

TEST(ArrayReference, EveryLayoutRoundTrips) {
  const auto dictionary = arrow::dictionary(arrow::int32(), arrow::large_utf8());
  const std::vector<std::shared_ptr<arrow::Array>> columns = {
      Repeated(Array(arrow::boolean(), "[true, null, false]")),
      Repeated(Array(arrow::large_utf8(), R"(["", "日本", null, "Zürich"])")),
      Repeated(Array(arrow::large_utf8(), R"(["", ""])")),
      Repeated(Array(arrow::null(), "[null, null]")),
      Repeated(Array(arrow::list(arrow::int32()), "[[1, 2], [], null, [3]]")),
      Repeated(Array(arrow::fixed_size_list(arrow::float32(), 2), "[[1, 2], [3, 4]]")),
      Repeated(Array(arrow::struct_({arrow::field("a", arrow::int64()),
                                     arrow::field("b", arrow::large_utf8())}),
                     R"([{"a": 1, "b": "x"}, null, {"a": null, "b": "y"}])")),
      std::make_shared<arrow::DictionaryArray>(
          dictionary, Repeated(Array(arrow::int32(), "[0, 1, null, 0]")),
          Array(arrow::large_utf8(), R"(["one", "two"])")),
  };
  for (const auto& column : columns) {
    PrivateSegment input(*OneColumn(column));
    auto whole = Publish(input, input.batch());
    EXPECT_TRUE(whole.batch->column(0)->Equals(column)) << column->type()->ToString();
    const bool has_bytes = column->type_id() != arrow::Type::NA;
    EXPECT_EQ(whole.bytes_written == 0, has_bytes) << column->type()->ToString();
    auto slice = Publish(input, input.batch()->Slice(13, 900));
    EXPECT_TRUE(slice.batch->column(0)->Equals(column->Slice(13, 900)))
        << column->type()->ToString();
  }
}

TEST(ArrayReference, ReferencedBlockIsCountedOnceAndNotForTheWorker) {
  PrivateSegment input(*Numbered(kRows));
  const int64_t before = input.budget().used();
  auto published = Publish(input, input.batch());
  auto again = Publish(input, published.batch);
  EXPECT_EQ(input.budget().used(), before);
  ASSERT_OK_AND_ASSIGN(int64_t moved, published.store->Spill());
  EXPECT_EQ(moved, 0);
}

TEST(ArrayReference, ReceiverOfAReferencedBlockCanSpillIt) {
  PrivateSegment input(*Numbered(kRows));
  auto published = Publish(input, input.batch());
  auto parent = input.environment();
  parent.inputs = nullptr;
  auto received =
      BlockStore::FromBlocks(published.store->blocks(), parent, /*spillable=*/true);
  ASSERT_OK_AND_ASSIGN(int64_t moved, received->Spill());
  EXPECT_GT(moved, 0);
  EXPECT_EQ(received->storage(), Storage::kFile);
  ASSERT_OK_AND_ASSIGN(auto batch, received->ReadBlock(0));
  EXPECT_TRUE(batch->Equals(*Numbered(kRows)));
  EXPECT_TRUE(published.batch->Equals(*Numbered(kRows)));
}

TEST(ArrayReference, RejectsAColumnThatDoesNotFitItsType) {
  ArrayReference reference{.length = 3, .null_count = 0, .offset = 0};
  reference.buffers.resize(2);
  EXPECT_FALSE(reference.Read(arrow::int64()).ok());
  EXPECT_FAILS(Invalid, "children", reference.Read(arrow::list(arrow::int64())));
}

}  // namespace
}  // namespace xshards
