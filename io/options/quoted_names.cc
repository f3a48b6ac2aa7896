// SPDX-License-Identifier: Apache-2.0
#include "io/options/quoted_names.h"

#include <algorithm>

namespace xshards::io {

std::string QuotedNames(const std::vector<std::string>& names) {
  constexpr size_t kShown = 20;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    if (i > 0) text += ", ";
    text += "'" + names[i] + "'";
  }
  if (names.size() > kShown)
    text += ", ... (" + std::to_string(names.size()) + " in all)";
  return text.empty() ? "none" : text;
}

}  // namespace xshards::io
