// SPDX-License-Identifier: Apache-2.0
#include "io/fs/glob.h"

#include <random>
#include <string>
#include <string_view>
#include <vector>

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

// By trying all that a `*` may take, in exponential time.
bool MatchesByTrial(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*' && MatchesByTrial(pattern.substr(1), name)) return true;
  if (name.empty() || (pattern[0] != '*' && pattern[0] != '?' && pattern[0] != name[0])) {
    return false;
  }
  return MatchesByTrial(pattern[0] == '*' ? pattern : pattern.substr(1), name.substr(1));
}

// The same for the parts of a path, of one letter each.
bool PathMatchesByTrial(std::string_view pattern, std::string_view path) {
  if (pattern.empty() || path.empty()) return pattern.empty() && path.empty();
  const auto rest = [](std::string_view text, size_t size) {
    return text.size() <= size ? "" : text.substr(size + 1);
  };
  if (!pattern.starts_with("**")) {
    return MatchName(pattern.substr(0, pattern.find('/')), path.substr(0, 1)) &&
           PathMatchesByTrial(rest(pattern, 1), rest(path, 1));
  }
  if (pattern.size() == 2 || PathMatchesByTrial(rest(pattern, 2), path)) return true;
  return path.size() > 1 && path[0] != '.' && PathMatchesByTrial(pattern, rest(path, 1));
}

std::string Draw(std::mt19937& random, const std::vector<std::string>& choices,
                 size_t max_length, const std::string& separator) {
  std::string text;
  for (size_t length = random() % (max_length + 1); length > 0; --length) {
    if (!text.empty()) text += separator;
    text += choices[random() % choices.size()];
  }
  return text;
}

TEST(Glob, AgreesWithTryingAllWays) {
  std::mt19937 random(7);
  int matched = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto pattern = Draw(random, {"a", "b", "*", "?"}, 7, "");
    const auto name = Draw(random, {"a", "b"}, 7, "");
    matched += MatchName(pattern, name) ? 1 : 0;
    ASSERT_EQ(MatchName(pattern, name), MatchesByTrial(pattern, name))
        << pattern << " " << name;
    const auto path_pattern = Draw(random, {"a", "b", ".", "*", "**"}, 6, "/");
    const auto path = Draw(random, {"a", "b", "."}, 6, "/");
    matched += MatchPath(path_pattern, path) ? 1 : 0;
    ASSERT_EQ(MatchPath(path_pattern, path), PathMatchesByTrial(path_pattern, path))
        << path_pattern << " " << path;
  }
  EXPECT_GT(matched, 2000);
}

TEST(Glob, EndsForPatternsOfManyStars) {
  std::string stars;
  std::string folders;
  std::string path;
  for (int i = 0; i < 50; ++i) {
    stars += "*a";
    folders += "**/a/";
    path += "a/a/";
  }
  EXPECT_FALSE(MatchName(stars + "b", std::string(255, 'a')));
  EXPECT_TRUE(MatchName(stars + "*b", std::string(254, 'a') + "b"));
  EXPECT_FALSE(MatchPath(folders + "b", path + "c"));
  EXPECT_TRUE(MatchPath(folders + "b", path + "b"));
}

TEST(Glob, DetectsWildcards) {
  EXPECT_TRUE(HasWildcard("a*"));
  EXPECT_TRUE(HasWildcard("a[b"));
  EXPECT_FALSE(HasWildcard("plain/path.csv"));
}

}  // namespace
}  // namespace xshards::io
