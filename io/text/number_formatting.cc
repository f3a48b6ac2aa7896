// SPDX-License-Identifier: Apache-2.0
#include "io/text/number_formatting.h"

#include <cmath>
#include <string_view>

namespace xshards::io {
namespace {

template <typename T>
void Append(T value, std::string* out) {
  // Beyond these, a number without an exponent gets long.
  const T size = std::abs(value);
  const bool plain = size == 0 || (size >= static_cast<T>(1e-4) && size < T(1e16));
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof(text), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific)
          .ptr;
  const std::string_view digits(text, static_cast<size_t>(end - text));
  out->append(digits);
  if (plain && digits.find('.') == std::string_view::npos) out->append(".0");
}

}  // namespace

void AppendFloat(double value, std::string* out) { Append(value, out); }
void AppendFloat(float value, std::string* out) { Append(value, out); }

}  // namespace xshards::io
