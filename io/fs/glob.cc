// SPDX-License-Identifier: Apache-2.0
#include "io/fs/glob.h"

#include <vector>

namespace xshards::io {
namespace {

// Match one character against a set whose '[' is at pattern[0]; returns the length of the
// set in the pattern, or 0 if it is not closed and so is literal.
size_t MatchSet(std::string_view pattern, char c, bool* matched) {
  size_t i = 1;
  const bool negated = i < pattern.size() && pattern[i] == '!';
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size(); first = false) {
    if (pattern[i] == ']' && !first) {
      *matched = found != negated;
      return i + 1;
    }
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      found |= pattern[i] <= c && c <= pattern[i + 2];
      i += 3;
    } else {
      found |= pattern[i] == c;
      ++i;
    }
  }
  return 0;
}

// Match one character against the first of a pattern; returns how much of the pattern
// that is, or 0 if it does not match.
size_t MatchCharacter(std::string_view pattern, char c) {
  bool matched = pattern[0] == '?' || pattern[0] == c;
  size_t used = 1;
  if (pattern[0] == '[') {
    const size_t length = MatchSet(pattern, c, &matched);
    if (length > 0) used = length;
  }
  return matched ? used : 0;
}

// In time of the product of the lengths: where characters after a `*` do not match, only
// the last `*` takes one more, since whatever an earlier one took could be the last
// one's.
bool MatchFrom(std::string_view pattern, std::string_view name) {
  std::string_view after_star;    // the pattern after the last `*`
  std::string_view left_by_star;  // what that `*` has not taken of the name
  bool has_star = false;
  while (true) {
    if (!pattern.empty() && pattern[0] == '*') {
      has_star = true;
      after_star = pattern = pattern.substr(1);
      left_by_star = name;
      continue;
    }
    if (pattern.empty() && name.empty()) return true;
    const size_t used =
        pattern.empty() || name.empty() ? 0 : MatchCharacter(pattern, name[0]);
    if (used > 0) {
      pattern.remove_prefix(used);
      name.remove_prefix(1);
      continue;
    }
    if (!has_star || left_by_star.empty()) return false;
    left_by_star.remove_prefix(1);
    pattern = after_star;
    name = left_by_star;
  }
}

std::vector<std::string_view> Parts(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return parts;
}

}  // namespace

bool HasWildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool MatchName(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  return MatchFrom(pattern, name);
}

bool MatchPath(std::string_view pattern, std::string_view path) {
  const auto patterns = Parts(pattern);
  const auto names = Parts(path);
  // Whether the patterns from the current one on match the names from each one on; each
  // pattern meets each name once, however many `**` there are.
  std::vector<bool> matches(names.size() + 1, false);
  matches.back() = true;
  for (size_t i = patterns.size(); i-- > 0;) {
    const bool is_last = i + 1 == patterns.size();
    bool next = matches.back();  // of the patterns after this one, from the next name on
    matches.back() = false;
    for (size_t j = names.size(); j-- > 0;) {
      const bool rest = next;
      next = matches[j];
      if (patterns[i] != "**") {
        matches[j] = rest && MatchName(patterns[i], names[j]);
      } else if (!is_last) {
        matches[j] = next || (matches[j + 1] && !names[j].starts_with('.'));
      } else {
        matches[j] = true;
      }
    }
  }
  return matches.front();
}

}  // namespace xshards::io
