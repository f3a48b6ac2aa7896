// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/result_store.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/context.h"
#include "xshards/optimizer/optimizer.h"
#include "xshards/plan/codec.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::NumberedShards;
using testing::TestContext;

TEST(ResultStore, HoldsPartitionsUntilCleared) {
  const auto store = ResultStore::Make();
  const auto id = store->MakeId();
  EXPECT_EQ(store->partitions(id), nullptr);
  store->SetPartitions(id, {Partition(), Partition()});
  ASSERT_NE(store->partitions(id), nullptr);
  EXPECT_EQ(store->partitions(id)->size(), 2);
  store->ClearPartitions(id);
  EXPECT_EQ(store->partitions(id), nullptr);
}

TEST(ResultStore, NoPartitionsAreStillAnAnswer) {
  const auto store = ResultStore::Make();
  const auto id = store->MakeId();
  store->SetPartitions(id, {});
  EXPECT_NE(store->partitions(id), nullptr);
}

TEST(ResultStore, DropsAnEntryWithTheLastPlanThatNamesIt) {
  const auto store = ResultStore::Make();
  auto plan = MakeNode(CacheNode{store->MakeId()}, {MakeNode(ScanNode{})});
  auto above = MakeNode(LimitNode{3}, {plan});
  store->SetPartitions(plan->as<CacheNode>().id, {Partition()});
  plan.reset();
  EXPECT_EQ(store->size(), 1);
  above.reset();
  EXPECT_EQ(store->size(), 0);
}

TEST(ResultStore, KnowsNoIdsOfOtherStores) {
  const auto store = ResultStore::Make();
  const auto other = ResultStore::Make();
  const auto id = store->MakeId();
  const auto same_number = other->MakeId();
  ASSERT_EQ(id->number, same_number->number);
  store->SetPartitions(id, {Partition()});
  store->SetSchema(id, arrow::schema({}));
  for (const auto& unknown : {same_number, ResultHandle()}) {
    EXPECT_EQ(store->partitions(unknown), nullptr);
    EXPECT_EQ(store->schema(unknown), nullptr);
    EXPECT_FALSE(store->LockToFill(unknown).owns_lock());
    store->SetPartitions(unknown, {});
    store->ClearPartitions(unknown);
    store->SetSchema(unknown, nullptr);
  }
  EXPECT_EQ(store->partitions(id)->size(), 1);
  EXPECT_NE(store->schema(id), nullptr);
  EXPECT_EQ(other->partitions(same_number), nullptr);
}

TEST(ResultStore, IdsMayOutliveIt) {
  auto store = ResultStore::Make();
  const auto id = store->MakeId();
  store.reset();
  EXPECT_EQ(id->number, 1);
}

TEST(ResultStore, OneThreadFillsWhileOthersWait) {
  const auto store = ResultStore::Make();
  const auto id = store->MakeId();
  std::atomic<int> num_filled = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const auto lock = store->LockToFill(id);
        if (store->partitions(id) != nullptr) return;
        ++num_filled;
        store->SetPartitions(id, {Partition()});
      });
    }
  }
  EXPECT_EQ(num_filled, 1);
}

TEST(WithResults, CopiesNodesWithStoredResults) {
  const auto store = ResultStore::Make();
  const auto found = arrow::schema({arrow::field("a", arrow::float64())});
  ScanNode scan;
  scan.schema = arrow::schema({arrow::field("a", arrow::int64())});
  scan.inferred = true;
  scan.found = store->MakeId();
  const auto leaf = MakeNode(scan);
  const auto cached = MakeNode(CacheNode{store->MakeId()}, {leaf});
  const auto plan = MakeNode(LimitNode{3}, {cached});
  EXPECT_EQ(WithResults(plan, *store), plan);
  EXPECT_EQ(InferredScans(*plan, *store).size(), 1);

  store->SetSchema(scan.found, found);
  ASSERT_OK_AND_ASSIGN(const auto schema, OutputSchema(*WithResults(plan, *store)));
  EXPECT_TRUE(schema->Equals(*found));
  EXPECT_FALSE(WithResults(leaf, *store)->as<ScanNode>().inferred);
  // Whoever asks may have failed with the types as they were.
  EXPECT_EQ(InferredScans(*plan, *store).size(), 1);

  store->SetPartitions(cached->as<CacheNode>().id, {Partition(), Partition()});
  const auto filled = WithResults(plan, *store)->inputs[0];
  EXPECT_EQ(Describe(*filled), "Cache (filled)");
  EXPECT_EQ(NumPartitions(*filled), 2);
  EXPECT_EQ(Describe(*cached), "Cache (empty)");
  EXPECT_TRUE(InferredScans(*plan, *store).empty());
}

TEST(CachedShards, AreFreedWithTheLastShardsThatNameThem) {
  const auto context = TestContext();
  auto cached =
      std::optional(NumberedShards(context, 3, 1000).PartitionBy({"key"}).Cache());
  auto above = std::optional(cached->Filter(col("id") > lit(7)));
  ASSERT_OK(cached->Count());
  EXPECT_EQ(context->results().size(), 1);
  cached.reset();
  EXPECT_EQ(context->results().size(), 1);
  EXPECT_GT(context->budget().used(), 0);
  ASSERT_OK_AND_ASSIGN(const int64_t rows, above->Count());
  EXPECT_EQ(rows, 2992);
  above.reset();
  EXPECT_EQ(context->results().size(), 0);
  EXPECT_EQ(context->budget().used(), 0);
}

TEST(CachedShards, StayWhileAPlanOptimizedFromThemLives) {
  const auto context = TestContext();
  auto cached = std::optional(NumberedShards(context, 2, 10).Cache());
  ASSERT_OK(cached->Count());
  ASSERT_OK_AND_ASSIGN(auto plan, Optimize(cached->plan()));
  cached.reset();
  EXPECT_EQ(context->results().size(), 1);
  plan.reset();
  EXPECT_EQ(context->results().size(), 0);
}

TEST(CachedShards, OfTwoContextsAreApart) {
  const auto first = TestContext();
  const auto second = TestContext();
  const auto one = NumberedShards(first, 2, 10).Cache();
  const auto other = NumberedShards(second, 3, 10).Cache();
  ASSERT_OK_AND_ASSIGN(const int64_t rows, one.Count());
  EXPECT_EQ(rows, 20);
  EXPECT_TRUE(one.is_cached());
  EXPECT_FALSE(other.is_cached());
  ASSERT_OK_AND_ASSIGN(const int64_t other_rows, other.Count());
  EXPECT_EQ(other_rows, 30);
  other.Uncache();
  EXPECT_TRUE(one.is_cached());
  // A Context that did not make the id has nothing for it, and keeps nothing.
  ASSERT_OK_AND_ASSIGN(const auto partitions, second->Execute(one.plan()));
  EXPECT_EQ(partitions.size(), 2);
  EXPECT_EQ(second->results().size(), 1);
}

TEST(CachedShards, AreNamedByADecodedPlanOfTheirContext) {
  const auto context = TestContext();
  const auto cached = NumberedShards(context, 2, 10).Cache();
  PlanEncoder encoder(context->storage());
  ASSERT_OK(encoder.Put(*cached.plan()));
  PlanDecoder decoder(encoder.bytes().Finish(), encoder.segments(), context->storage());
  ASSERT_OK_AND_ASSIGN(auto again, decoder.GetPlan());
  EXPECT_EQ(*again->as<CacheNode>().id, *cached.plan()->as<CacheNode>().id);
  ASSERT_OK(cached.Count());
  EXPECT_EQ(Describe(*context->WithResults(again)), "Cache (filled)");
  again.reset();
  EXPECT_TRUE(cached.is_cached());
}

}  // namespace
}  // namespace xshards
