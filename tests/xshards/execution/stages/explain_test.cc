// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/stages/explain.h"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::NumberedShards;
using testing::TestContext;

TEST(Explain, ShowsThePlanTheOptimizedPlanAndTheStages) {
  auto context = TestContext();
  auto plan = NumberedShards(context, 2, 5)
                  .PartitionBy({"key"}, 4)
                  .Filter(col("id") > lit(3))
                  .GroupBy({"key"}, {{"sum", "value", "sum(value)"}});
  ASSERT_OK_AND_ASSIGN(auto text, plan.Explain());
  EXPECT_EQ(
      text,
      "Plan as written\n"
      "  Aggregate sum(value) by key\n"
      "    Filter (id > 3)\n"
      "      Exchange by hash of key into 4\n"
      "        Literal (2 partitions)\n"
      "Plan as optimized\n"
      "  Aggregate sum(value) by key\n"
      "    Exchange by hash of key into 4\n"
      "      Filter (id > 3)\n"
      "        Literal (2 partitions)\n"
      "Stages\n"
      "  stage 1: Read partitions → Filter → partition into 4   [2 fragments, threads]\n"
      "      hash exchange: rows of equal keys go to the same partition\n"
      "  stage 2: Read stage 1 → Aggregate   [4 fragments, threads]\n"
      "      aggregation in place: input is already partitioned by the keys\n");
}

TEST(Explain, GivesTheReasonForEveryWideNode) {
  auto context = TestContext();
  const auto left = NumberedShards(context, 2, 5);
  const auto right = left.Select({"id"});
  // The reason that is given last: that of the node at the root of the plan.
  const auto note = [](const XShards& shards) -> std::string {
    const auto text = shards.Explain().ValueOrDie();
    const auto stages = text.substr(text.find("Stages\n"));
    std::string last;
    std::istringstream lines(stages);
    for (std::string line; std::getline(lines, line);) {
      const bool is_note =
          line.starts_with("      ") && !line.starts_with("      its output decides");
      if (is_note) last = line.substr(6);
    }
    return last;
  };
  JoinNode join{.left_keys = {"id"}, .right_keys = {"id"}};
  EXPECT_TRUE(note(left.Join(right, join)).starts_with("broadcast hash join: the right"));
  join.type = JoinType::kRight;
  EXPECT_TRUE(note(left.Join(right, join)).starts_with("broadcast hash join: the left"));
  EXPECT_TRUE(note(left.Sort({{"id", false}})).starts_with("range sort: "));
  EXPECT_TRUE(
      note(NumberedShards(context, 1, 5).Sort({{"id"}})).starts_with("sort in place: "));
  EXPECT_TRUE(note(left.Repartition(3)).starts_with("balanced exchange: "));
  EXPECT_TRUE(note(left.PartitionByRange({"id"})).starts_with("range exchange: "));
  const auto by_key = left.PartitionBy({"key"}, 3);
  EXPECT_TRUE(note(by_key).starts_with("hash exchange: "));
  EXPECT_TRUE(note(by_key.PartitionBy({"key"})).starts_with("exchange elided: "));
  EXPECT_TRUE(note(by_key.GroupBy({"key"}, {})).starts_with("aggregation in place: "));
  EXPECT_TRUE(note(by_key.GroupBy({"id"}, {})).starts_with("two-phase aggregation: "));
  EXPECT_TRUE(note(left.Distinct()).starts_with("distinct rows by position: "));
  EXPECT_NE(
      note(left.GroupBy({}, {{"sum", "id", "s"}})).find("because there is one group"),
      std::string::npos);
  EXPECT_TRUE(note(left.Head(3)).starts_with("first rows: "));
  EXPECT_EQ(note(left.Select({"id"})), "");
}

TEST(Explain, ShowsBothPhasesOfAnAggregation) {
  auto plan = NumberedShards(TestContext(), 2, 5).GroupBy({"key"}, {});
  ASSERT_OK_AND_ASSIGN(auto text, plan.Explain());
  EXPECT_NE(text.find("Aggregate (partial)"), std::string::npos);
  EXPECT_NE(text.find("→ partition into 2"), std::string::npos);
  EXPECT_NE(text.find("  stage 2: Read stage 1 → Aggregate "), std::string::npos);
}

TEST(Explain, NamesTheBuildSideOfAJoinAndTheReason) {
  const JoinNode on_key{.left_keys = {"key"}, .right_keys = {"key"}};
  auto context = TestContext();
  auto large = NumberedShards(context, 2, 500);
  auto small = NumberedShards(context, 1, 5);
  ASSERT_OK_AND_ASSIGN(auto text, large.Join(small, on_key).Explain());
  EXPECT_NE(text.find("stage 1: Read partitions → Join (broadcast) "), std::string::npos)
      << text;
  EXPECT_NE(text.find("      broadcast hash join: the right (0 KB) is"),
            std::string::npos)
      << text;
  ASSERT_OK_AND_ASSIGN(text, small.Join(large, on_key).Explain());
  EXPECT_NE(text.find("broadcast hash join: the left (0 KB) is"), std::string::npos)
      << text;
  auto outer = on_key;
  outer.type = JoinType::kOuter;
  ASSERT_OK_AND_ASSIGN(text, large.Join(small, outer).Explain());
  EXPECT_NE(text.find("→ partition into 2"), std::string::npos) << text;
  EXPECT_NE(text.find("because an outer join keeps all rows of both"), std::string::npos)
      << text;
}

TEST(Explain, NamesTheFirstRowsOfASort) {
  auto top = NumberedShards(TestContext(), 2, 5).Sort({{"id", false}}).Head(3);
  ASSERT_OK_AND_ASSIGN(auto text, top.Explain());
  EXPECT_NE(text.find("stage 1: Read partitions → Top → partition into 1"),
            std::string::npos)
      << text;
}

TEST(Explain, ShowsThatAnUnregisteredFunctionRunsOnThreads) {
  auto mapped =
      NumberedShards(TestContext(), 1, 1).TransformShard([](const ShardView& s) {
        return s;
      });
  ASSERT_OK_AND_ASSIGN(auto text, mapped.Explain());
  EXPECT_NE(text.find("<unregistered: stays in this process>"), std::string::npos);
}

}  // namespace
}  // namespace xshards
