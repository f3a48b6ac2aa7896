// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/expression_graph.h"

#include <gtest/gtest.h>

namespace xshards {
namespace {

/// x = x * (1 - x), n times.
Expression Logistic(int n) {
  auto x = col("x");
  for (int i = 0; i < n; ++i) x = x * (lit(1) - x);
  return x;
}

TEST(ExpressionGraph, CountsSharedCallsOnce) {
  EXPECT_EQ(NumCalls(col("x").arrow()), 0);
  EXPECT_EQ(NumCalls(Logistic(30).arrow()), 60);
  EXPECT_EQ(NumWrittenCalls(Logistic(3).arrow()), 14);
  EXPECT_GT(NumWrittenCalls(Logistic(200).arrow()), 1e60);
  EXPECT_EQ(SharedCalls(Logistic(30).arrow()).size(), 29);
  EXPECT_TRUE(SharedCalls((col("a") + col("b")).arrow()).empty());
}

TEST(ExpressionGraph, VisitsArgumentsBeforeWhatUsesThem) {
  std::vector<std::string> visited;
  ForEachCall(((col("a") + lit(1)) * -col("b")).arrow(),
              [&](const auto& part) { visited.push_back(part.call()->function_name); });
  EXPECT_EQ(visited, (std::vector<std::string>{"add", "negate", "multiply"}));
}

TEST(ExpressionGraph, WalksDeepExpressions) {
  auto deep = col("x");
  for (int i = 0; i < 20'000; ++i) deep = deep + lit(1);
  EXPECT_EQ(NumCalls(deep.arrow()), 20'000);
  EXPECT_EQ(deep.Columns(), std::vector<std::string>{"x"});
}

TEST(ExpressionGraph, ReplacesColumnsAndKeepsSharing) {
  const auto y = (col("y") + lit(2)).arrow();
  const auto replaced =
      ReplaceColumns(Logistic(40).arrow(),
                     [&](const std::string& name) { return name == "x" ? &y : nullptr; });
  EXPECT_EQ(NumCalls(replaced), 81);
  EXPECT_EQ(Expression(replaced).Columns(), std::vector<std::string>{"y"});
}

TEST(ExpressionGraph, SplitsIntoTreesAndJoinsThemAgain) {
  for (const int n : {0, 1, 2, 50}) {
    const auto expression = Logistic(n).arrow();
    const auto parts = SplitSharedParts(expression);
    EXPECT_EQ(parts.trees.size(), n < 2 ? 1 : static_cast<size_t>(n));
    for (const auto& tree : parts.trees) EXPECT_TRUE(SharedCalls(tree).empty());
    const auto joined = JoinSharedParts(parts);
    EXPECT_EQ(NumCalls(joined), NumCalls(expression));
    EXPECT_EQ(joined.hash(), expression.hash());
  }
}

TEST(ExpressionGraph, NamesPartsAsNoColumnIsNamed) {
  const auto shared = col("#0") + col("##");
  const auto parts = SplitSharedParts((shared * shared).arrow());
  EXPECT_EQ(parts.prefix, "###");
  EXPECT_EQ(Expression(JoinSharedParts(parts)).Columns(),
            (std::vector<std::string>{"#0", "##"}));
}

}  // namespace
}  // namespace xshards
