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
    text += ", ... (" + std::to_string(names.size()) + " in total)";
  return text.empty() ? "none" : text;
}

arrow::Status CheckOptionName(const std::string& name,
                              const std::vector<std::string>& known,
                              const std::string& owner) {
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return arrow::Status::OK();
  }
  return arrow::Status::Invalid("Unknown option of ", owner, ": '", name,
                                "'; expected one of ", QuotedNames(known));
}

}  // namespace xshards::io
