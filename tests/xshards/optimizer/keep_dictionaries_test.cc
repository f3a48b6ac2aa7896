// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/optimizer/optimizer.h"
#include "xshards/shards.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards {
namespace {

using testing::Numbered;
using testing::TestContext;

class KeepDictionariesRule : public ::testing::Test {
 protected:
  XShards Shards() const {
    return {context_, MakeNode(ScanNode{.format = "parquet",
                                        .schema = Numbered(0)->schema(),
                                        .splits = {{.path = "a"}, {.path = "b"}},
                                        .encodable = {"key", "not read"}})};
  }
  static const ScanNode& ScanOf(const Plan& plan) {
    return plan->inputs.empty() ? plan->as<ScanNode>() : ScanOf(plan->inputs[0]);
  }
  static bool KeepsThem(const XShards& shards) {
    const auto plan = Optimize(shards.plan());
    EXPECT_OK(plan.status());
    return plan.ok() && IsEncoded(*ScanOf(*plan).schema->GetFieldByName("key"));
  }
  static MapPythonNode Function() {
    return {.function_hash = "hash", .label = "f", .format = "pandas"};
  }

  std::shared_ptr<Context> context_ = TestContext();
};

TEST_F(KeepDictionariesRule, AppliesBelowExchangesGroupsAndCaches) {
  const auto shards = Shards();
  EXPECT_TRUE(KeepsThem(shards.Cache()));
  EXPECT_TRUE(KeepsThem(shards.PartitionBy({"key"}, 3)));
  EXPECT_TRUE(KeepsThem(shards.GroupBy({"key"}, {{"sum", "value", "total"}})));
  EXPECT_TRUE(KeepsThem(shards.Sort({{"id", true}})));
  EXPECT_TRUE(
      KeepsThem(shards.Join(Shards(), {.left_keys = {"id"}, .right_keys = {"id"}})));
  EXPECT_TRUE(KeepsThem(shards.Distinct()));
  EXPECT_TRUE(KeepsThem(shards.Filter(col("key") == lit("k1")).Cache()));
  EXPECT_TRUE(KeepsThem(
      shards.WithColumn("twice", col("value") * lit(2.0)).PartitionBy({"key"}, 3)));
}

TEST_F(KeepDictionariesRule, DoesNotApplyBelowFunctionsAndTheCaller) {
  const auto shards = Shards();
  EXPECT_FALSE(KeepsThem(shards));
  EXPECT_FALSE(KeepsThem(shards.Filter(col("key") == lit("k1")).Head(3)));
  EXPECT_FALSE(KeepsThem(shards.TransformPython(Function())));
  EXPECT_FALSE(KeepsThem(shards.TransformShard("registered").PartitionBy({"key"}, 3)));
}

TEST_F(KeepDictionariesRule, DoesNotChangeTheSchema) {
  const auto shards = Shards().PartitionBy({"key"}, 3);
  ASSERT_OK_AND_ASSIGN(const auto schema, shards.known_schema());
  EXPECT_EQ(schema->GetFieldByName("key")->type()->id(), arrow::Type::LARGE_STRING);
  ASSERT_OK_AND_ASSIGN(const auto optimized, Optimize(shards.plan()));
  EXPECT_NE(Describe(*optimized->inputs[0]).find("dictionaries kept: key"),
            std::string::npos);
}

TEST_F(KeepDictionariesRule, DoesNotEncodeOtherColumns) {
  ASSERT_OK_AND_ASSIGN(const auto optimized, Optimize(Shards().Cache().plan()));
  const auto& scan = ScanOf(optimized);
  EXPECT_EQ(scan.schema->num_fields(), 3);
  EXPECT_EQ(scan.schema->GetFieldByName("id")->type()->id(), arrow::Type::INT64);
  EXPECT_EQ(scan.schema->GetFieldByName("value")->type()->id(), arrow::Type::DOUBLE);
}

}  // namespace
}  // namespace xshards
