// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/context.h"
#include "xshards/execution/fragments/runner.h"

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

/// A scan that throws when it is read.
class Throwing final : public BatchStream {
 public:
  explicit Throwing(const std::string& what) : what_(what) {}
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (what_ == "memory") throw std::bad_alloc();
    if (what_ == "number") throw 7;
    throw std::out_of_range("row group 3");
  }

 private:
  const std::string what_;
  const std::shared_ptr<arrow::Schema> schema_ = Numbered(0)->schema();
};

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

TEST_P(ThreadRunnerTest, ReportsTheFirstFailureAndStopsTheRest) {
  std::vector<Fragment> fragments;
  for (int32_t i = 0; i < 50; ++i) fragments.push_back(i == 3 ? Failing(i) : Data(i));
  EXPECT_FAILS(KeyError, "'nope'", Run(fragments));
  EXPECT_LT(done_, 50);
}

TEST_P(ThreadRunnerTest, RunsNothingIfAlreadyStopped) {
  arrow::StopSource source;
  source.RequestStop();
  EXPECT_FAILS(Cancelled, "", Run({Data(0), Data(1)}, source.token()));
  EXPECT_EQ(done_, 0);
}

TEST_P(ThreadRunnerTest, NoFragmentsGiveNoResults) {
  ASSERT_OK_AND_ASSIGN(auto results, Run({}));
  EXPECT_TRUE(results.empty());
}

TEST_P(ThreadRunnerTest, WhatAnOperatorThrowsBecomesAStatus) {
  auto operators = std::make_shared<OperatorTable>(*DefaultOperators());
  operators->SetScan(
      "throwing",
      [](const PlanNode& node, const BatchStreams&,
         OperatorContext&) -> arrow::Result<std::unique_ptr<BatchStream>> {
        return std::make_unique<Throwing>(node.as<ScanNode>().splits[0].path);
      });
  runner_ = MakeThreadRunner(GetParam(), operators);
  const auto run = [&](const std::string& what) {
    ScanNode scan;
    scan.format = "throwing";
    scan.schema = Numbered(0)->schema();
    scan.splits = {Split{.path = what}};
    return Run({Data(0), {.index = 1, .root = MakeNode(std::move(scan))}, Data(2)});
  };
  EXPECT_FAILS(OutOfMemory, "Partition 1", run("memory"));
  EXPECT_FAILS(UnknownError, "Partition 1: row group 3", run("range"));
  EXPECT_FAILS(UnknownError, "unknown type", run("number"));
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadRunnerTest, ::testing::Values(1, 2, 7));

}  // namespace
}  // namespace xshards
