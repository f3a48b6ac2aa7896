// SPDX-License-Identifier: Apache-2.0
#include "xshards/output/part_name.h"

#include <charconv>
#include <string_view>

namespace xshards {
namespace {

constexpr std::string_view kPart = "part-";

std::string Digits(int64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 5 ? 5 - digits.size() : 0, '0');
  return digits;
}

}  // namespace

std::string PartName(int64_t number, const std::string& format) {
  return std::string(kPart) + Digits(number) + "." + (format == "ipc" ? "arrow" : format);
}

int64_t PartNumber(const std::string& name) {
  int64_t number = -1;
  if (!name.starts_with(kPart)) return number;
  const char* const digits = name.data() + kPart.size();
  std::from_chars(digits, name.data() + name.size(), number);
  return number;
}

std::string RenumberPart(const std::string& name, int64_t number,
                         const std::string& mark) {
  const size_t end = name.find_first_not_of("0123456789", kPart.size());
  return std::string(kPart) + Digits(number) + (mark.empty() ? "" : "-" + mark) +
         (end == std::string::npos ? "" : name.substr(end));
}

}  // namespace xshards
