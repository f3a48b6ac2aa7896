// SPDX-License-Identifier: Apache-2.0
#include "io/text/json_escape.h"

namespace xshards::io {

void AppendJsonString(std::string_view value, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  *out += '"';
  for (const char c : value) {
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          *out += "\\u00";
          *out += kHex[c >> 4];
          *out += kHex[c & 15];
        } else {
          *out += c;
        }
    }
  }
  *out += '"';
}

}  // namespace xshards::io
