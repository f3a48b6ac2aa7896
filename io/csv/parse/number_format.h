// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace xshards::io {

/// How numbers are written: with which decimal point, and with which character between
/// thousands, if any.
class NumberFormat {
 public:
  NumberFormat(char decimal, std::optional<char> thousands)
      : decimal_(decimal), thousands_(thousands) {}

  /// Whether numbers have the standard format: 1234.5.
  bool is_plain() const { return decimal_ == '.' && !thousands_.has_value(); }
  /// A number in standard format: the text itself, or a rewritten copy in `scratch`.
  /// nullopt if it is not a number: a separator counts only directly after a digit before
  /// the decimal point, as for floats in pandas.
  std::optional<std::string_view> ToPlain(std::string_view text,
                                          std::string* scratch) const;

 private:
  const char decimal_;
  const std::optional<char> thousands_;
};

}  // namespace xshards::io
