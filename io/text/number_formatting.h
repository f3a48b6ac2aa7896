// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <string>

namespace xshards::io {

/// Append an integer in decimal digits.
template <std::integral T>
void AppendInteger(T value, std::string* out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out->append(digits, end);
}

/// Append a float as Python's repr does: the fewest digits that read back the same,
/// always with a point or an exponent, so that it reads back as a float. Infinity is inf.
void AppendFloat(double value, std::string* out);
void AppendFloat(float value, std::string* out);

}  // namespace xshards::io
