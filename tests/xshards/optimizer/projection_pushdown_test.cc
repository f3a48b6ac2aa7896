// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/optimizer/optimizer.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::TestContext;

class ColumnPruningTest : public ::testing::Test {
 protected:
  XShards Scan(const std::vector<std::string>& names) const {
    arrow::FieldVector fields;
    for (const auto& name : names) fields.push_back(arrow::field(name, arrow::int64()));
    return {context_, MakeNode(ScanNode{.format = "csv",
                                        .schema = arrow::schema(fields),
                                        .splits = {{.path = "a"}}})};
  }
  static void Columns(const Plan& plan, std::vector<std::vector<std::string>>& found) {
    if (plan->kind() == NodeKind::kScan) {
      const auto& scan = plan->as<ScanNode>();
      found.push_back(scan.columns.value_or(scan.schema->field_names()));
    }
    for (const auto& input : plan->inputs) Columns(input, found);
  }
  /// The columns each scan reads, from left to right.
  static std::vector<std::vector<std::string>> Read(const XShards& shards) {
    std::vector<std::vector<std::string>> found;
    auto pruned = PushDownProjections(shards.plan());
    EXPECT_TRUE(pruned.ok()) << pruned.status();
    if (pruned.ok()) Columns(*pruned, found);
    return found;
  }
  using Lists = std::vector<std::vector<std::string>>;

  std::shared_ptr<Context> context_ = TestContext();
};

TEST_F(ColumnPruningTest, KeepsTheKeysOfIntermediateNodes) {
  auto shards = Scan({"a", "b", "c", "d", "e"});
  EXPECT_EQ(Read(shards.Sort({{"d", true}})
                     .PartitionBy({"c"})
                     .Select(std::vector<std::string>{"a"})),
            (Lists{{"a", "c", "d"}}));
  EXPECT_EQ(Read(shards.GroupBy({"b"}, {{"sum", "d", "x"}, {"count", kAllRows, "n"}})),
            (Lists{{"b", "d"}}));
}

TEST_F(ColumnPruningTest, AJoinKeepsColumnsWhoseNamesClash) {
  auto left = Scan({"k", "v", "x"});
  auto right = Scan({"k", "v", "y"});
  auto joined = left.Join(right, {.left_keys = {"k"}, .right_keys = {"k"}});
  EXPECT_EQ(Read(joined.Select(std::vector<std::string>{"v_x"})),
            (Lists{{"k", "v"}, {"k", "v"}}));
  EXPECT_EQ(Read(joined.Select(std::vector<std::string>{"y"})),
            (Lists{{"k", "v"}, {"k", "v", "y"}}));
}

TEST_F(ColumnPruningTest, BranchesOfAUnionGiveTheSameColumns) {
  auto both = Scan({"a", "b", "c"}).Union(Scan({"c", "b", "a"}));
  EXPECT_EQ(Read(both.Select(std::vector<std::string>{"a", "c"})),
            (Lists{{"a", "c"}, {"c", "a"}}));
}

TEST_F(ColumnPruningTest, AFunctionSeesEveryColumn) {
  auto mapped = Scan({"a", "b"}).TransformShard([](const ShardView& s) { return s; });
  EXPECT_EQ(Read(mapped.Select(std::vector<std::string>{"a"})), (Lists{{"a", "b"}}));
}

TEST_F(ColumnPruningTest, ACacheKeepsEveryColumn) {
  EXPECT_EQ(Read(Scan({"a", "b"}).Cache().Select(std::vector<std::string>{"a"})),
            (Lists{{"a", "b"}}));
}

}  // namespace
}  // namespace xshards
