// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/aggregate_functions.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::NumberedShards;
using testing::TestContext;

TEST(AggregateFunctions, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const auto& function : AggregateFunctions()) {
    EXPECT_TRUE(names.insert(function.name).second) << function.name;
    for (const auto alias : function.aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias;
    }
    for (const auto spark : function.spark_names) {
      ASSERT_OK_AND_ASSIGN(const auto* found, FindAggregateFunction(spark));
      EXPECT_EQ(found, &function) << spark;
    }
  }
}

TEST(AggregateFunctions, AreFoundByNameAndAlias) {
  for (const auto& function : AggregateFunctions()) {
    ASSERT_OK_AND_ASSIGN(const auto* found, FindAggregateFunction(function.name));
    EXPECT_EQ(found, &function);
    for (const auto alias : function.aliases) {
      ASSERT_OK_AND_ASSIGN(found, FindAggregateFunction(alias));
      EXPECT_EQ(found, &function) << alias;
    }
  }
  ASSERT_OK_AND_ASSIGN(const auto* quantile, FindAggregateFunction("quantile(0.25)"));
  EXPECT_EQ(quantile->name, "quantile");
}

TEST(AggregateFunctions, AreAllListedWhereANameIsUnknown) {
  for (const std::string name : {"mode", "", "quantile(", "Sum", "mean(avg)"}) {
    const auto status = FindAggregateFunction(name).status();
    EXPECT_TRUE(status.IsInvalid()) << name;
    EXPECT_NE(status.message().find("There is no aggregate '" + name + "'"),
              std::string::npos);
    for (const auto& function : AggregateFunctions()) {
      EXPECT_NE(status.message().find(function.name), std::string::npos);
      for (const auto alias : function.aliases) {
        EXPECT_NE(status.message().find(alias), std::string::npos);
      }
    }
    EXPECT_NE(status.message().find("mean (avg), min"), std::string::npos);
  }
}

TEST(AggregateFunctions, OfAQuantileNameItsShare) {
  EXPECT_EQ(QuantileShare("median").ValueOrDie(), 0.5);
  EXPECT_EQ(QuantileShare("quantile").ValueOrDie(), 0.5);
  EXPECT_EQ(QuantileShare("quantile(0.25)").ValueOrDie(), 0.25);
  EXPECT_EQ(QuantileShare("quantile(1)").ValueOrDie(), 1);
  for (const char* name : {"quantile()", "quantile(1.5)", "quantile(-1)", "quantile(x)",
                           "quantile(0.5 )", "quantile(nan)"}) {
    EXPECT_FAILS(Invalid, "between 0 and 1", FindAggregateFunction(name));
  }
}

TEST(AggregateFunctions, GiveTheSameByEveryName) {
  const auto shards = NumberedShards(TestContext(), 3, 40);
  for (const auto& function : AggregateFunctions()) {
    const auto by = [&](std::string_view name) {
      return shards
          .GroupBy({"key"}, {{std::string(name), "value", "x"}}, /*ordered=*/true)
          .ToTable()
          .ValueOrDie();
    };
    for (const auto alias : function.aliases) {
      EXPECT_TRUE(by(alias)->Equals(*by(function.name), /*check_metadata=*/true))
          << alias;
    }
  }
}

TEST(AggregateFunctions, NeedAColumnUnlessRowsAreCounted) {
  const auto shards = NumberedShards(TestContext(), 1, 4);
  for (const auto& function : AggregateFunctions()) {
    const auto schema =
        shards.GroupBy({}, {{std::string(function.name), kAllRows, "x"}}).schema();
    EXPECT_EQ(schema.ok(), function.name == "count") << function.name;
    EXPECT_EQ(schema.ok(), !function.needs_column) << function.name;
  }
}

}  // namespace
}  // namespace xshards
