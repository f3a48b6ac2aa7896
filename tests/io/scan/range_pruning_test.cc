// SPDX-License-Identifier: Apache-2.0
#include "io/scan/range_pruning.h"

#include <cmath>
#include <limits>

#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

class RangePruning : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_OK(arrow::compute::Initialize()); }
};

/// The column "a" has values from 3 to 7; the ranges of others are unknown.
std::optional<ColumnRange> RangeOfA(const std::string& name) {
  if (name != "a") return std::nullopt;
  return ColumnRange{.min = arrow::MakeScalar(int64_t{3}),
                     .max = arrow::MakeScalar(int64_t{7})};
}

TEST_F(RangePruning, RulesOutComparisonsOutsideTheRange) {
  EXPECT_TRUE(IsRuledOut(col("a") > lit(7), RangeOfA));
  EXPECT_TRUE(IsRuledOut(col("a") >= lit(8), RangeOfA));
  EXPECT_TRUE(IsRuledOut(col("a") < lit(3), RangeOfA));
  EXPECT_TRUE(IsRuledOut(col("a") <= lit(2), RangeOfA));
  EXPECT_TRUE(IsRuledOut(col("a") == lit(9), RangeOfA));
  EXPECT_TRUE(IsRuledOut(lit(7) < col("a"), RangeOfA));
}

TEST_F(RangePruning, KeepsComparisonsThatSomeValueMayPass) {
  EXPECT_FALSE(IsRuledOut(col("a") >= lit(7), RangeOfA));
  EXPECT_FALSE(IsRuledOut(col("a") <= lit(3), RangeOfA));
  EXPECT_FALSE(IsRuledOut(col("a") == lit(5), RangeOfA));
  EXPECT_FALSE(IsRuledOut(col("a") != lit(5), RangeOfA));
  EXPECT_FALSE(IsRuledOut(col("b") == lit(9), RangeOfA));
}

TEST_F(RangePruning, OneFalsePartOfAConjunctionIsEnough) {
  EXPECT_TRUE(IsRuledOut((col("b") == lit(1)) && (col("a") > lit(7)), RangeOfA));
  EXPECT_FALSE(IsRuledOut((col("b") == lit(1)) || (col("a") > lit(7)), RangeOfA));
}

TEST_F(RangePruning, AllNullsRuleOutEveryComparison) {
  const auto all_missing = [](const std::string&) {
    return std::optional(ColumnRange{.all_missing = true});
  };
  EXPECT_TRUE(IsRuledOut(col("a") == lit(1), all_missing));
}

TEST_F(RangePruning, UsesMayHoldForEquality) {
  const auto unknown = [](const std::string&) -> std::optional<ColumnRange> {
    return std::nullopt;
  };
  const auto holds_none = [](const std::string&, const arrow::ScalarVector&) {
    return false;
  };
  EXPECT_TRUE(IsRuledOut(col("a") == lit(1), unknown, holds_none));
  EXPECT_FALSE(IsRuledOut(col("a") > lit(1), unknown, holds_none));
}

TEST_F(RangePruning, NanAndNullAreMissing) {
  EXPECT_TRUE(IsMissing(*arrow::MakeScalar(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(IsMissing(*arrow::MakeNullScalar(arrow::int64())));
  EXPECT_FALSE(IsMissing(*arrow::MakeScalar(0.0)));
}

}  // namespace
}  // namespace xshards::io
