// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/partition.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/storage/batch_stream.h"

namespace xshards {
namespace {

using testing::Batch;
using testing::Numbered;

TEST(Partition, AnEmptyTableKeepsItsSchema) {
  auto schema = Numbered(0)->schema();
  auto partition = Partition::FromPayload(Payload::Table(schema, {}));
  EXPECT_EQ(partition.num_rows(), 0);
  ASSERT_OK_AND_ASSIGN(auto kept, partition.schema());
  EXPECT_TRUE(kept->Equals(*schema));
}

TEST(Partition, LoadsPayloadsOfEachKind) {
  ASSERT_OK_AND_ASSIGN(auto object,
                       Payload::Object(arrow::Buffer::FromString("pickle"), {}));
  auto partition = Partition::FromPayload(object);
  ASSERT_OK_AND_ASSIGN(auto payloads, partition.Load());
  ASSERT_EQ(payloads.size(), 1);
  EXPECT_EQ(payloads[0].kind(), PayloadKind::kObject);

  auto batch = Numbered(4);
  auto table = Partition::FromPayload(Payload::Table(batch->schema(), {batch, batch}));
  ASSERT_OK_AND_ASSIGN(payloads, table.Load());
  ASSERT_EQ(payloads.size(), 1);
  EXPECT_EQ(payloads[0].num_rows(), 8);
}

TEST(Partition, CountsShardsAndListsTheirKinds) {
  const auto rows = Numbered(4);
  ASSERT_OK_AND_ASSIGN(auto object, Payload::Object(arrow::Buffer::FromString("x"), {}));
  const auto one = object.batches()[0];
  const Partition table({BlockStore::FromBatches({rows, rows})}, 0);
  const Partition objects({BlockStore::FromBatches({one, one})}, 0);
  EXPECT_EQ(Partition().num_shards(), 0);
  EXPECT_EQ(table.num_shards(), 1);
  EXPECT_EQ(objects.num_shards(), 2);
  EXPECT_EQ(Partition({objects.blocks()[0].store}, 1).num_shards(), 0);
  EXPECT_TRUE(KindsOf({Partition()}).empty());
  EXPECT_EQ(KindsOf({objects, table}),
            (std::set{PayloadKind::kTable, PayloadKind::kObject}));
}

TEST(Partition, HasNoPayloadWhenNothingWasStored) {
  Partition nothing;
  EXPECT_EQ(nothing.num_rows(), 0);
  ASSERT_OK_AND_ASSIGN(auto schema, nothing.schema());
  EXPECT_EQ(schema, nullptr);
  ASSERT_OK_AND_ASSIGN(auto payloads, nothing.Load());
  EXPECT_TRUE(payloads.empty());
}

TEST(Partition, OpensWithAWiderSchema) {
  auto ints = Batch(arrow::schema({arrow::field("a", arrow::int64())}), R"([{"a": 1}])");
  auto floats =
      Batch(arrow::schema({arrow::field("a", arrow::float64())}), R"([{"a": 2.5}])");
  auto partition =
      Partition({BlockStore::FromBatches({ints}), BlockStore::FromBatches({floats})}, 0);
  ASSERT_OK_AND_ASSIGN(auto schema, UnifySchemas({partition}));
  EXPECT_EQ(schema->field(0)->type()->id(), arrow::Type::DOUBLE);
  ASSERT_OK_AND_ASSIGN(auto stream, partition.Open(schema, arrow::default_memory_pool()));
  ASSERT_OK_AND_ASSIGN(auto batches, ReadAll(*stream));
  ASSERT_EQ(batches.size(), 2);
  EXPECT_TRUE(batches[0]->Equals(*Batch(schema, R"([{"a": 1.0}])")));
}

TEST(Partition, ForAllReturnsTheBlocksOfEachDestinationInOrder) {
  Partition::Stores stores;
  for (int64_t first : {0, 100}) {
    BlockWriter writer(StorageEnvironment{}, Storage::kHeap);
    for (int32_t destination : {2, 0, 2}) {
      ASSERT_OK(writer.Append(destination, Numbered(2, 7, first++)));
    }
    ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
    stores.push_back(std::move(store));
  }
  const auto all = Partition::ForAll(stores, 4);
  ASSERT_EQ(all.size(), 4);
  for (int32_t i = 0; i < 4; ++i) {
    const Partition one(stores, i);
    const auto& same = all[static_cast<size_t>(i)];
    EXPECT_EQ(same.destination(), i);
    ASSERT_EQ(same.blocks().size(), one.blocks().size());
    for (size_t j = 0; j < one.blocks().size(); ++j) {
      EXPECT_EQ(same.blocks()[j].store, one.blocks()[j].store);
      EXPECT_EQ(same.blocks()[j].index, one.blocks()[j].index);
    }
  }
  EXPECT_EQ(all[2].num_rows(), 8);
  EXPECT_EQ(all[0].num_rows(), 4);
  EXPECT_TRUE(all[1].blocks().empty());
}

TEST(Partition, ReadsSmallBlocksOnDiskTogether) {
  const auto context = testing::TestContext();
  constexpr int64_t kPieces = 5000;
  BlockWriter writer(context->storage(), Storage::kFile);
  for (int64_t i = 0; i < kPieces; ++i) {
    ASSERT_OK(writer.Append(0, Numbered(2, 7, 2 * i)));
  }
  ASSERT_OK(writer.Append(0, Numbered(20000, 7, 2 * kPieces)));
  ASSERT_OK(writer.Append(0, Numbered(1, 7, 2 * kPieces + 20000)));
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  const Partition partition({store}, 0);
  const auto schema = Numbered(0)->schema();
  for (const auto& wanted : {schema, std::shared_ptr<arrow::Schema>()}) {
    ASSERT_OK_AND_ASSIGN(auto stream,
                         partition.Open(wanted, arrow::default_memory_pool()));
    ASSERT_OK_AND_ASSIGN(auto batches, ReadAll(*stream));
    EXPECT_LT(batches.size(), 20);
    EXPECT_GT(batches.size(), 3);  // not all at once
    // A large block passes as it is.
    EXPECT_EQ(batches[batches.size() - 2]->num_rows(), 20000);
    ASSERT_OK_AND_ASSIGN(auto all, arrow::ConcatenateRecordBatches(batches));
    EXPECT_TRUE(all->Equals(*Numbered(2 * kPieces + 20001, 7, 0)));
  }
}

TEST(Partition, DoesNotCombineBlocksOfDifferentSchemas) {
  const auto context = testing::TestContext();
  const auto of = [](const std::shared_ptr<arrow::DataType>& type) {
    return Batch(arrow::schema({arrow::field("a", type)}), R"([{"a": 1}])");
  };
  BlockWriter writer(context->storage(), Storage::kFile);
  for (const auto& type :
       {arrow::int64(), arrow::int64(), arrow::float64(), arrow::int64()}) {
    ASSERT_OK(writer.Append(0, of(type)));
  }
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  const Partition partition({store}, 0);
  ASSERT_OK_AND_ASSIGN(auto stream,
                       partition.Open(nullptr, arrow::default_memory_pool()));
  ASSERT_OK_AND_ASSIGN(auto batches, ReadAll(*stream));
  ASSERT_EQ(batches.size(), 3);
  EXPECT_EQ(batches[0]->num_rows(), 2);
  EXPECT_TRUE(batches[1]->Equals(*of(arrow::float64())));
  ASSERT_OK_AND_ASSIGN(auto wide, UnifySchemas({partition}));
  ASSERT_OK_AND_ASSIGN(stream, partition.Open(wide, arrow::default_memory_pool()));
  ASSERT_OK_AND_ASSIGN(batches, ReadAll(*stream));
  ASSERT_EQ(batches.size(), 1);
  EXPECT_EQ(batches[0]->num_rows(), 4);
}

}  // namespace
}  // namespace xshards
