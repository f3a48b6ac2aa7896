// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/number_format.h"

#include "io/csv/parse/number_parser.h"

namespace xshards::io {

std::optional<std::string_view> NumberFormat::ToPlain(std::string_view text,
                                                      std::string* scratch) const {
  if (is_plain()) return text;
  scratch->clear();
  bool is_whole = true;  // neither point nor exponent yet
  bool after_digit = false;
  for (const char c : TrimBlanks(text)) {
    if (c == decimal_ && is_whole) {
      scratch->push_back('.');
      is_whole = false;
    } else if (c == thousands_ && is_whole && after_digit) {
      after_digit = false;
      continue;
    } else if (c == decimal_ || c == thousands_ || c == '.') {
      return std::nullopt;
    } else {
      scratch->push_back(c);
      is_whole = is_whole && c != 'e' && c != 'E';
    }
    after_digit = c >= '0' && c <= '9';
  }
  return *scratch;
}

}  // namespace xshards::io
