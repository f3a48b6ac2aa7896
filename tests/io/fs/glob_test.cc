// SPDX-License-Identifier: Apache-2.0
#include "io/fs/glob.h"

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

TEST(Glob, MatchesNames) {
  EXPECT_TRUE(MatchName("*.csv", "a.csv"));
  EXPECT_TRUE(MatchName("*", "anything"));
  EXPECT_TRUE(MatchName("a*b*c", "a--b--c"));
  EXPECT_FALSE(MatchName("a*b*c", "a--c--b"));
  EXPECT_TRUE(MatchName("part-[0-9][0-9]", "part-07"));
  EXPECT_FALSE(MatchName("part-[0-9]", "part-x"));
  EXPECT_TRUE(MatchName("[]x]", "]"));
  EXPECT_TRUE(MatchName("[abc", "[abc"));
  EXPECT_FALSE(MatchName("?", ""));
}

TEST(Glob, MatchesHiddenNamesOnlyByPatternsWithADot) {
  EXPECT_FALSE(MatchName("*", ".hidden"));
  EXPECT_TRUE(MatchName(".*", ".hidden"));
}

TEST(Glob, MatchesPathsPartByPart) {
  EXPECT_FALSE(MatchPath("*.csv", "x/a.csv"));
  EXPECT_TRUE(MatchPath("*/a.csv", "x/a.csv"));
  EXPECT_TRUE(MatchPath("**/a.csv", "a.csv"));
  EXPECT_TRUE(MatchPath("**/a.csv", "x/y/a.csv"));
  EXPECT_FALSE(MatchPath("**/a.csv", "x/.git/a.csv"));
  EXPECT_TRUE(MatchPath("x/**/z/*.csv", "x/z/a.csv"));
  EXPECT_FALSE(MatchPath("x/**/z/*.csv", "x/a.csv"));
}

TEST(Glob, DetectsWildcards) {
  EXPECT_TRUE(HasWildcard("a*"));
  EXPECT_TRUE(HasWildcard("a[b"));
  EXPECT_FALSE(HasWildcard("plain/path.csv"));
}

}  // namespace
}  // namespace xshards::io
