// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/block_store.h"

#include <set>
#include <thread>

#include <arrow/array/concatenate.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/memory/segment_pool.h"
#include "xshards/storage/adjacent_batches.h"
#include "xshards/storage/batch_stream.h"
#include "xshards/storage/partition.h"

namespace xshards {
namespace {

using testing::Numbered;

class BlockStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { Use(1LL << 30); }

  void Use(int64_t limit) {
    pool_.reset();
    budget_ = std::make_unique<MemoryBudget>(limit);
    ASSERT_OK_AND_ASSIGN(pool_,
                         SegmentPool::Make(directory_.path(), budget_.get(), 1 << 20));
    environment_ = {.budget = budget_.get(), .segments = pool_.get()};
  }

  /// A batch whose buffers are counted in the budget, as those of operators are.
  std::shared_ptr<arrow::RecordBatch> Counted(int64_t rows, int64_t first_id = 0) {
    auto batch = Numbered(rows, 7, first_id);
    arrow::ArrayVector columns;
    for (const auto& column : batch->columns()) {
      columns.push_back(arrow::Concatenate({column}, budget_->pool()).ValueOrDie());
    }
    return arrow::RecordBatch::Make(batch->schema(), rows, std::move(columns));
  }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<MemoryBudget> budget_;
  std::unique_ptr<SegmentPool> pool_;
  StorageEnvironment environment_;
};

TEST_F(BlockStoreTest, KeepsBlocksPerDestinationInOrder) {
  BlockWriter writer(environment_, Storage::kHeap);
  ASSERT_OK(writer.Append(1, Numbered(3, 7, 0)));
  ASSERT_OK(writer.Append(0, Numbered(2, 7, 10)));
  ASSERT_OK(writer.Append(1, Numbered(4, 7, 20)));
  EXPECT_EQ(writer.num_rows(), 9);
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  Partition partition({store}, 1);
  EXPECT_EQ(partition.num_rows(), 7);
  ASSERT_OK_AND_ASSIGN(auto stream, partition.Open(nullptr, budget_->pool()));
  ASSERT_OK_AND_ASSIGN(auto batches, ReadAll(*stream));
  ASSERT_EQ(batches.size(), 2);
  EXPECT_TRUE(batches[0]->Equals(*Numbered(3, 7, 0)));
  EXPECT_TRUE(batches[1]->Equals(*Numbered(4, 7, 20)));
}

TEST_F(BlockStoreTest, SpillMovesHeapToDiskAndReadersSeeTheSameRows) {
  BlockWriter writer(environment_, Storage::kHeap);
  ASSERT_OK(writer.Append(0, Counted(5000)));
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  EXPECT_EQ(store->storage(), Storage::kHeap);
  EXPECT_GT(budget_->used(), 0);
  ASSERT_OK_AND_ASSIGN(int64_t bytes, store->Spill());
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(store->storage(), Storage::kFile);
  EXPECT_EQ(budget_->used(), 0);
  ASSERT_OK_AND_ASSIGN(auto batch, store->ReadBlock(0));
  EXPECT_TRUE(batch->Equals(*Numbered(5000)));
  ASSERT_OK_AND_ASSIGN(bytes, store->Spill());
  EXPECT_EQ(bytes, 0);
}

TEST_F(BlockStoreTest, SharedOutputIsMappedAndCanBeSpilled) {
  BlockWriter writer(environment_, Storage::kShared);
  ASSERT_OK(writer.Append(0, Numbered(5000)));
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  EXPECT_EQ(store->storage(), Storage::kShared);
  ASSERT_OK_AND_ASSIGN(auto kept, store->ReadBlock(0));
  ASSERT_OK(store->Spill());
  EXPECT_EQ(store->storage(), Storage::kFile);
  EXPECT_TRUE(kept->Equals(*Numbered(5000)));
  ASSERT_OK_AND_ASSIGN(auto again, store->ReadBlock(0));
  EXPECT_TRUE(again->Equals(*Numbered(5000)));
}

TEST_F(BlockStoreTest, MakingRoomSpillsNoMoreThanNeeded) {
  Use(10 << 20);
  std::vector<std::shared_ptr<BlockStore>> stores;
  for (int i = 0; i < 2; ++i) {
    BlockWriter writer(environment_, Storage::kShared);
    ASSERT_OK(writer.Append(0, Numbered(20000)));
    ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
    stores.push_back(std::move(store));
  }
  // The pages of the first that is spilled count as idle, until they are given back.
  ASSERT_OK(budget_->MakeRoom(budget_->limit() / 5 * 4 - budget_->used() / 2 - 1000));
  EXPECT_EQ(stores[0]->storage(), Storage::kFile);
  EXPECT_EQ(stores[1]->storage(), Storage::kShared);
}

TEST_F(BlockStoreTest, OutputLargerThanTheBudgetGoesToDiskAsItIsWritten) {
  Use(1 << 20);
  for (auto storage : {Storage::kHeap, Storage::kShared}) {
    BlockWriter writer(environment_, storage);
    for (int64_t i = 0; i < 50; ++i) ASSERT_OK(writer.Append(0, Counted(5000, i * 5000)));
    EXPECT_LT(budget_->used(), 2 << 20);
    ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
    EXPECT_EQ(store->storage(), Storage::kFile);
    EXPECT_GT(budget_->spilled_bytes(), 0);
    std::set<int> files;
    for (const auto& block : store->blocks()) {
      if (block.segment != nullptr && block.segment->kind() == SegmentKind::kDisk) {
        files.insert(block.segment->fd());
      }
    }
    EXPECT_EQ(files.size(), 1);
    ASSERT_OK_AND_ASSIGN(auto last, store->ReadBlock(49));
    EXPECT_TRUE(last->Equals(*Numbered(5000, 7, 49 * 5000)));
  }
}

TEST_F(BlockStoreTest, TheUsersOwnBatchesAreNotSpilledButCanBeShared) {
  auto store = BlockStore::FromBatches({Numbered(10)});
  ASSERT_OK_AND_ASSIGN(int64_t bytes, store->Spill());
  EXPECT_EQ(bytes, 0);
  EXPECT_EQ(store->storage(), Storage::kHeap);
  ASSERT_OK(store->Share(*pool_));
  EXPECT_EQ(store->storage(), Storage::kShared);
  ASSERT_OK_AND_ASSIGN(auto batch, store->ReadBlock(0));
  EXPECT_TRUE(batch->Equals(*Numbered(10)));
}

TEST_F(BlockStoreTest, SharedRowsOfATableAreContiguous) {
  const auto kinds = arrow::schema(
      {arrow::field("n", arrow::int64()), arrow::field("t", arrow::large_utf8()),
       arrow::field("l", arrow::list(arrow::int32())), arrow::field("z", arrow::null()),
       arrow::field("d", arrow::dictionary(arrow::int32(), arrow::large_utf8())),
       arrow::field("s", arrow::struct_({arrow::field("b", arrow::boolean())}))});
  const auto rows = [&](const char* text) { return testing::Batch(kinds, text); };
  const arrow::RecordBatchVector batches = {
      rows(R"([{"n": 1, "t": "one", "l": [1, 2], "s": {"b": true}}])"), rows("[]"),
      rows(R"([{"n": null, "t": null, "l": null, "s": null},
               {"n": 3, "t": "", "l": [], "s": {"b": null}}])")};
  BlockWriter writer(environment_, Storage::kHeap);
  for (const auto& batch : batches) ASSERT_OK(writer.Append(0, batch));
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  ASSERT_OK(store->Share(*pool_));
  EXPECT_EQ(store->storage(), Storage::kShared);
  arrow::RecordBatchVector read;
  for (size_t i = 0; i < batches.size(); ++i) {
    ASSERT_OK_AND_ASSIGN(auto block, store->ReadBlock(i));
    EXPECT_TRUE(block->Equals(*batches[i])) << block->ToString();
    read.push_back(std::move(block));
  }
  ASSERT_OK_AND_ASSIGN(auto whole, arrow::ConcatenateRecordBatches(batches));
  const auto joined = JoinAdjacent(read);
  ASSERT_NE(joined, nullptr);
  EXPECT_TRUE(joined->Equals(*whole));
  ASSERT_OK_AND_ASSIGN(int64_t spilled, store->Spill());
  EXPECT_GT(spilled, 0);
  EXPECT_EQ(store->storage(), Storage::kFile);
  ASSERT_OK_AND_ASSIGN(auto last, store->ReadBlock(2));
  EXPECT_TRUE(last->Equals(*batches[2]));
}

TEST_F(BlockStoreTest, RowsThatExceedMemoryAreSharedInSeveralBlocks) {
  Use(100'000);
  BlockWriter writer(environment_, Storage::kHeap);
  for (int64_t i = 0; i < 2; ++i) {
    ASSERT_OK(writer.Append(0, Counted(1000, i * 1000)));
  }
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  ASSERT_EQ(store->storage(), Storage::kHeap);
  ASSERT_OK(store->Share(*pool_));
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_NE(store->block(static_cast<size_t>(i)).segment, nullptr);
    ASSERT_OK_AND_ASSIGN(auto read, store->ReadBlock(static_cast<size_t>(i)));
    EXPECT_TRUE(read->Equals(*Numbered(1000, 7, i * 1000)));
  }
}

TEST_F(BlockStoreTest, ReadersAndSpillersDoNotDisturbEachOther) {
  BlockWriter writer(environment_, Storage::kHeap);
  for (int64_t i = 0; i < 20; ++i) ASSERT_OK(writer.Append(0, Numbered(100, 7, i * 100)));
  ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 20; ++i) {
        if (t == 0) {
          EXPECT_TRUE(store->Spill().ok());
        }
        auto batch = store->ReadBlock(i);
        ASSERT_TRUE(batch.ok());
        EXPECT_TRUE((*batch)->Equals(*Numbered(100, 7, static_cast<int64_t>(i) * 100)));
      }
    });
  }
}

TEST_F(BlockStoreTest, ManySmallStoresUseFewSegments) {
  std::vector<std::shared_ptr<BlockStore>> stores;
  const auto num_segments = [&] {
    std::set<Segment*> segments;
    for (const auto& store : stores) segments.insert(store->block(0).segment.get());
    return segments.size();
  };
  const auto expect_all_there = [&] {
    for (size_t i = 0; i < stores.size(); ++i) {
      const auto first = static_cast<int64_t>(i);
      ASSERT_OK_AND_ASSIGN(auto read, stores[i]->ReadBlock(0));
      EXPECT_TRUE(read->Equals(*Numbered(3, 7, first)));
    }
  };
  for (int64_t i = 0; i < 1000; ++i) {
    BlockWriter writer(environment_, Storage::kHeap);
    ASSERT_OK(writer.Append(0, Numbered(3, 7, i)));
    ASSERT_OK_AND_ASSIGN(auto store, writer.Finish());
    stores.push_back(std::move(store));
  }
  for (const auto& store : stores) ASSERT_OK(store->Share(*pool_));
  EXPECT_LT(num_segments(), 70);
  expect_all_there();
  for (const auto& store : stores) ASSERT_OK(store->Spill());
  EXPECT_EQ(stores.front()->storage(), Storage::kFile);
  EXPECT_LT(num_segments(), 70);
  expect_all_there();
}

TEST_F(BlockStoreTest, SmallStoresMoveToASharedSegment) {
  std::vector<std::shared_ptr<BlockStore>> stores;
  for (int64_t i = 0; i < 100; ++i) {
    ASSERT_OK_AND_ASSIGN(auto segment, pool_->Create(SegmentKind::kMemory));
    const auto batch = Numbered(3, 7, i);
    ASSERT_OK_AND_ASSIGN(auto range, segment->Append(*batch));
    BlockStore::Block block{.num_rows = 3, .num_bytes = range.length};
    block.schema = batch->schema();
    block.segment = std::move(segment);
    block.range = range;
    stores.push_back(BlockStore::FromBlocks({block}, environment_, /*spillable=*/true));
    ASSERT_OK(stores.back()->Consolidate(*pool_));
  }
  EXPECT_FALSE(stores.front()->block(0).segment->has_many_stores());
  EXPECT_TRUE(stores.back()->block(0).segment->has_many_stores());
  for (int64_t i = 0; i < 100; ++i) {
    ASSERT_OK_AND_ASSIGN(auto read, stores[static_cast<size_t>(i)]->ReadBlock(0));
    EXPECT_TRUE(read->Equals(*Numbered(3, 7, i)));
  }
}

}  // namespace
}  // namespace xshards
