// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/context.h"
#include "xshards/execution/runner.h"

namespace xshards {
namespace {

using testing::Numbered;
using testing::TestContext;

Fragment Data(int32_t index) {
  return {.index = index,
          .root = MakeNode(
              LiteralNode{.schema = Numbered(0)->schema(),
                          .partitions = {Partition(
                              {BlockStore::FromBatches({Numbered(index + 1)})}, 0)}})};
}

Fragment Failing(int32_t index) {
  auto fragment = Data(index);
  fragment.root = MakeNode(FilterNode{col("nope") > lit(1)}, {fragment.root});
  return fragment;
}

class ThreadRunnerTest : public ::testing::TestWithParam<int> {
 protected:
  std::shared_ptr<Context> context_ = TestContext();
  std::shared_ptr<Runner> runner_ = MakeThreadRunner(GetParam(), DefaultOperators());
  std::atomic<int> done_{0};

  arrow::Result<std::vector<FragmentResult>> Run(
      const std::vector<Fragment>& fragments,
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) {
    return runner_->Run(fragments, context_->storage(), stop, [this] { ++done_; });
  }
};

TEST_P(ThreadRunnerTest, ReturnsResultsInTheOrderOfTheFragments) {
  std::vector<Fragment> fragments;
  for (int32_t i = 0; i < 50; ++i) fragments.push_back(Data(i));
  ASSERT_OK_AND_ASSIGN(auto results, Run(fragments));
  ASSERT_EQ(results.size(), 50);
  for (size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(results[i].metrics.rows_out, static_cast<int64_t>(i) + 1);
  }
  EXPECT_EQ(done_, 50);
}

TEST_P(ThreadRunnerTest, TheFirstFailureIsWhatIsReportedAndTheRestIsLeft) {
  std::vector<Fragment> fragments;
  for (int32_t i = 0; i < 50; ++i) fragments.push_back(i == 3 ? Failing(i) : Data(i));
  EXPECT_FAILS(KeyError, "'nope'", Run(fragments));
  EXPECT_LT(done_, 50);
}

TEST_P(ThreadRunnerTest, RunsNothingWhenStoppedBefore) {
  arrow::StopSource source;
  source.RequestStop();
  EXPECT_FAILS(Cancelled, "", Run({Data(0), Data(1)}, source.token()));
  EXPECT_EQ(done_, 0);
}

TEST_P(ThreadRunnerTest, NoFragmentsGiveNoResults) {
  ASSERT_OK_AND_ASSIGN(auto results, Run({}));
  EXPECT_TRUE(results.empty());
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadRunnerTest, ::testing::Values(1, 2, 7));

}  // namespace
}  // namespace xshards
