// SPDX-License-Identifier: Apache-2.0
#include "io/fs/glob.h"

#include <utility>

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

bool MatchFrom(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    if (pattern[0] == '*') {
      for (size_t skip = 0; skip <= name.size(); ++skip) {
        if (MatchFrom(pattern.substr(1), name.substr(skip))) return true;
      }
      return false;
    }
    if (name.empty()) return false;
    size_t used = 1;
    bool matched = pattern[0] == '?' || pattern[0] == name[0];
    if (pattern[0] == '[') {
      const size_t length = MatchSet(pattern, name[0], &matched);
      if (length > 0) used = length;
    }
    if (!matched) return false;
    pattern.remove_prefix(used);
    name.remove_prefix(1);
  }
  return name.empty();
}

// The first part of a path and the rest.
std::pair<std::string_view, std::string_view> Cut(std::string_view path) {
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {path, {}};
  return {path.substr(0, slash), path.substr(slash + 1)};
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
  if (pattern.empty() || path.empty()) return pattern.empty() && path.empty();
  const auto [first_pattern, more_pattern] = Cut(pattern);
  const auto [first, more] = Cut(path);
  if (first_pattern == "**") {
    if (more_pattern.empty()) return true;
    return MatchPath(more_pattern, path) ||
           (!more.empty() && !first.starts_with('.') && MatchPath(pattern, more));
  }
  return MatchName(first_pattern, first) && MatchPath(more_pattern, more);
}

}  // namespace xshards::io
