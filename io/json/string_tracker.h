// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace xshards::io {

/// Tracks, character by character, which parts of a JSON text are inside strings.
class JsonQuotes {
 public:
  /// Whether the next character is part of a string, its quotes included.
  bool Contain(char c) {
    if (!in_string_) {
      in_string_ = c == '"';
      return in_string_;
    }
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    return true;
  }

 private:
  bool in_string_ = false;
  bool is_escaped_ = false;
};

}  // namespace xshards::io
