// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/feeder.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/no_more_threads.h"
#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards::learn {
namespace {

using ::testing::ElementsAre;
using ::xshards::testing::Batch;
using ::xshards::testing::Numbered;
using ::xshards::testing::TestContext;

std::vector<Partition> Uneven(const std::vector<int64_t>& sizes) {
  std::vector<Partition> partitions;
  int64_t first = 0;
  for (const int64_t size : sizes) {
    const auto batch = Numbered(size, 7, first);
    partitions.push_back(
        Partition::FromPayload(Payload::Table(batch->schema(), {batch})));
    first += size;
  }
  return partitions;
}

FeedOptions Ids(int64_t batch_size) {
  FeedOptions options;
  options.tensors = {{.columns = {"id"}}};
  options.batch_size = batch_size;
  return options;
}

/// The ids of each step of an epoch.
using Steps = std::vector<std::vector<int64_t>>;

Steps ReadEpoch(Feeder& feeder, int64_t epoch, int64_t first_step = 0) {
  Steps steps;
  EXPECT_OK(feeder.Start(epoch, first_step));
  while (true) {
    auto batch = feeder.Next();
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok() || !batch->has_value()) return steps;
    EXPECT_EQ((*batch)->step, first_step + static_cast<int64_t>(steps.size()));
    const Tensor& ids = (*batch)->rows.tensors.at(0);
    const auto* values = reinterpret_cast<const int64_t*>(ids.data->data());
    steps.emplace_back(values, values + (*batch)->rows.num_rows);
  }
}

std::unique_ptr<Feeder> MakeFeeder(const std::vector<Partition>& partitions,
                                   const FeedOptions& options) {
  return Feeder::Make(partitions, options, arrow::default_memory_pool()).ValueOrDie();
}

std::vector<int64_t> Joined(const Steps& steps) {
  std::vector<int64_t> all;
  for (const auto& step : steps) all.insert(all.end(), step.begin(), step.end());
  return all;
}

std::vector<int64_t> Counting(int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(FeederTest, BatchesKeepTheOrderOfRows) {
  auto feeder = MakeFeeder(Uneven({3, 0, 4}), Ids(2));
  EXPECT_EQ(feeder->num_rows(), 7);
  EXPECT_THAT(ReadEpoch(*feeder, 0), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                                 ElementsAre(4, 5), ElementsAre(6)));
}

TEST(FeederTest, EachRowIsFedOncePerEpochForAnyPartitioning) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {1}, {100}, {30, 0, 1, 69}, {0, 0, 5, 0}, {1, 1, 1, 1, 1}}) {
    for (const int64_t batch_size : {1, 3, 64, 1000}) {
      for (const bool shuffle : {false, true}) {
        auto options = Ids(batch_size);
        options.order = {.shuffle = shuffle, .seed = 3, .window_rows = 20};
        auto feeder = MakeFeeder(Uneven(sizes), options);
        for (int64_t epoch = 0; epoch < 2; ++epoch) {
          auto ids = Joined(ReadEpoch(*feeder, epoch));
          std::sort(ids.begin(), ids.end());
          EXPECT_EQ(ids, Counting(feeder->num_rows()));
        }
      }
    }
  }
}

TEST(FeederTest, ReplicasTogetherSeeTheRowsOfOne) {
  const auto partitions = Uneven({30, 0, 1, 70});
  auto options = Ids(16);
  options.order = {.shuffle = true, .seed = 3, .window_rows = 40};
  const Steps alone = ReadEpoch(*MakeFeeder(partitions, options), 5);
  for (const int num_replicas : {2, 3, 20}) {
    options.num_replicas = num_replicas;
    Steps together(alone.size());
    for (options.replica = 0; options.replica < num_replicas; ++options.replica) {
      const Steps share = ReadEpoch(*MakeFeeder(partitions, options), 5);
      ASSERT_EQ(share.size(), alone.size());
      for (size_t step = 0; step < share.size(); ++step) {
        together[step].insert(together[step].end(), share[step].begin(),
                              share[step].end());
      }
    }
    options.replica = 0;
    EXPECT_EQ(together, alone) << num_replicas;
  }
}

TEST(FeederTest, EpochResumesAtAnyStep) {
  auto options = Ids(7);
  options.order = {.shuffle = true, .seed = 3, .window_rows = 25};
  auto feeder = MakeFeeder(Uneven({40, 60}), options);
  const Steps whole = ReadEpoch(*feeder, 2);
  EXPECT_NE(whole, ReadEpoch(*feeder, 3));
  for (const size_t first : {size_t{1}, size_t{8}, whole.size()}) {
    EXPECT_EQ(ReadEpoch(*feeder, 2, static_cast<int64_t>(first)),
              Steps(whole.begin() + static_cast<std::ptrdiff_t>(first), whole.end()));
  }
}

TEST(FeederTest, RestartDropsPrefetchedBatches) {
  auto feeder = MakeFeeder(Uneven({100}), Ids(1));
  ASSERT_OK(feeder->Start(0));
  ASSERT_OK_AND_ASSIGN(auto first, feeder->Next());
  EXPECT_EQ(first->step, 0);
  EXPECT_EQ(Joined(ReadEpoch(*feeder, 0)), Counting(100));
  ASSERT_OK_AND_ASSIGN(auto after, feeder->Next());
  EXPECT_FALSE(after.has_value());
}

TEST(FeederTest, SpilledPartitionsAreReadEachEpoch) {
  const auto context = TestContext();
  auto shards = xshards::testing::NumberedShards(context, 4, 1000).Cache();
  ASSERT_OK_AND_ASSIGN(auto partitions, shards.Collect());
  ASSERT_OK(context->SpillAll());
  auto options = Ids(300);
  options.order = {.shuffle = true, .seed = 1, .window_rows = 1500};
  auto feeder = Feeder::Make(partitions, options, context->memory_pool()).ValueOrDie();
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    auto ids = Joined(ReadEpoch(*feeder, epoch));
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, Counting(4000));
  }
}

TEST(FeederTest, TensorsAreFedUnchanged) {
  const std::vector<int64_t> ids = Counting(6);
  const std::vector<float> values = {0, 1, 2, 3, 4, 5};
  std::vector<Partition> partitions;
  for (const int64_t first : {0, 4}) {
    const int64_t rows = first == 0 ? 4 : 2;
    const auto slice = [&](const auto& all) {
      return arrow::SliceBuffer(arrow::Buffer::Wrap(all),
                                first * static_cast<int64_t>(sizeof(all[0])),
                                rows * static_cast<int64_t>(sizeof(all[0])));
    };
    ASSERT_OK_AND_ASSIGN(
        auto payload,
        Payload::Tensors({{"<i8", {rows}, slice(ids)}, {"<f4", {rows, 1}, slice(values)}},
                         "[]"));
    partitions.push_back(Partition::FromPayload(payload));
  }
  FeedOptions options;
  options.batch_size = 4;
  auto feeder = MakeFeeder(partitions, options);
  EXPECT_THAT(ReadEpoch(*feeder, 0),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5)));
}

TEST(FeederTest, RejectsPartitionsOfDifferentShapes) {
  const auto list = [](const char* json) {
    const auto batch =
        Batch(arrow::schema({arrow::field("l", arrow::list(arrow::int64()))}), json);
    return Partition::FromPayload(Payload::Table(batch->schema(), {batch}));
  };
  FeedOptions options;
  options.tensors = {{.columns = {"l"}}};
  options.batch_size = 1;
  auto feeder =
      MakeFeeder({list(R"([{"l": [1, 2]}])"), list(R"([{"l": [1, 2, 3]}])")}, options);
  ASSERT_OK(feeder->Start(0));
  ASSERT_OK(feeder->Next());
  EXPECT_FAILS(Invalid, "<i8[2] in one and <i8[3] in another", feeder->Next());
  ASSERT_OK_AND_ASSIGN(auto after, feeder->Next());
  EXPECT_FALSE(after.has_value());
}

TEST(FeederTest, InvalidOptionsFailBeforeTheFirstStep) {
  const auto make = [](const FeedOptions& options) {
    return Feeder::Make(Uneven({3}), options, arrow::default_memory_pool());
  };
  auto options = Ids(0);
  EXPECT_FAILS(Invalid, "batch_size must be at least 1, got 0", make(options));
  options = Ids(1);
  options.replica = 1;
  EXPECT_FAILS(Invalid,
               "replica must be below the number of replicas, got replica 1 of 1",
               make(options));
  options = Ids(1);
  options.order.window_rows = 0;
  EXPECT_FAILS(Invalid, "window_rows must be 1 to", make(options));
  options = Ids(1);
  options.prefetch = 0;
  EXPECT_FAILS(Invalid, "prefetch", make(options));
  options = {};
  EXPECT_FAILS(Invalid, "feature_cols", make(options));
}

TEST(FeederTest, NoRowsGiveNoSteps) {
  auto feeder = MakeFeeder({}, Ids(4));
  EXPECT_EQ(feeder->num_steps(), 0);
  EXPECT_TRUE(ReadEpoch(*feeder, 0).empty());
}

TEST(FeederTest, IsAnErrorWhereNoThreadStarts) {
  auto feeder = MakeFeeder(Uneven({3}), Ids(1));
  {
    const ::xshards::testing::NoMoreThreads none;
    EXPECT_FAILS(UnknownError, "Starting to make batches", feeder->Start(0));
  }
  ASSERT_OK_AND_ASSIGN(const auto none, feeder->Next());
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(Joined(ReadEpoch(*feeder, 0)), Counting(3));
}

// It is destroyed while its thread waits for room.
TEST(FeederTest, MayBeDestroyedInTheMiddle) {
  auto feeder = MakeFeeder(Uneven({1000}), Ids(1));
  ASSERT_OK(feeder->Start(0));
  ASSERT_OK(feeder->Next());
}

}  // namespace
}  // namespace xshards::learn
