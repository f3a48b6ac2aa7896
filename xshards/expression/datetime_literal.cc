// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/datetime_literal.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <regex>
#include <string>

#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>

namespace xshards {

namespace cp = arrow::compute;

namespace {

/// The text in Arrow's format, "YYYY-MM-DD hh:mm:ss.f" and an offset; empty if its format
/// is not supported.
std::string InFull(const std::string& text) {
  constexpr size_t kLongest = 64;
  static const std::regex kForm(
      R"(\s*(\d{4})(?:[-/](\d\d?)|(?:[-/](\d\d?)[-/](\d\d?)|(\d\d)(\d\d)))"
      R"((?:[ T](\d\d?)(?::(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?)?\s*)");
  std::smatch part;
  if (text.size() > kLongest || !std::regex_match(text, part, kForm)) return "";
  // The first of these parts that is present, in two digits.
  const auto two = [&](std::initializer_list<size_t> parts, const char* otherwise) {
    for (const size_t i : parts) {
      if (part[i].matched) return (part[i].length() == 1 ? "0" : "") + part[i].str();
    }
    return std::string(otherwise);
  };
  return part[1].str() + "-" + two({2, 3, 5}, "01") + "-" + two({4, 6}, "01") + " " +
         two({7}, "00") + ":" + two({8}, "00") + ":" + two({9}, "00") + part[10].str() +
         part[11].str();
}

/// With the coarsest unit, from this one on, that the text needs; with microseconds if it
/// is out of range of nanoseconds.
arrow::Result<arrow::Datum> ReadInFull(const std::string& text,
                                       arrow::TimeUnit::type unit,
                                       const std::string& zone) {
  const auto value = std::make_shared<arrow::StringScalar>(text);
  auto read = cp::Cast(value, arrow::timestamp(unit, zone));
  while (!read.ok() && unit != arrow::TimeUnit::NANO) {
    unit = static_cast<arrow::TimeUnit::type>(unit + 1);
    read = cp::Cast(value, arrow::timestamp(unit, zone));
  }
  // Nanoseconds cover only the years 1678 to 2261.
  if (!read.ok()) read = cp::Cast(value, arrow::timestamp(arrow::TimeUnit::MICRO, zone));
  return read;
}

/// Whether a text is a valid time only without its nanosecond digits.
bool IsBeyondNanoseconds(std::string text, const std::string& zone) {
  constexpr size_t kMicroseconds = 6;
  const size_t begin = text.find('.') + 1;
  const size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
  if (begin == 0 || end - begin <= kMicroseconds) return false;
  text.erase(begin + kMicroseconds, end - begin - kMicroseconds);
  return ReadInFull(text, arrow::TimeUnit::MICRO, "").ok() ||
         (!zone.empty() && ReadInFull(text, arrow::TimeUnit::MICRO, zone).ok());
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Scalar>> ReadTimeText(
    std::string_view text, const arrow::TimestampType& type) {
  if (text.empty() || text == "NaT") {
    return arrow::MakeNullScalar(type.GetSharedPtr());
  }
  const std::string& zone = type.timezone();
  const std::string full = InFull(std::string(text));
  if (!full.empty()) {
    const auto local = ReadInFull(full, type.unit(), "");
    if (local.ok() && zone.empty()) return local->scalar();
    if (local.ok()) {
      ARROW_ASSIGN_OR_RAISE(auto moment,
                            cp::AssumeTimezone(*local, cp::AssumeTimezoneOptions(zone)));
      return moment.scalar();
    }
    const auto moment = ReadInFull(full, type.unit(), zone);
    if (moment.ok() && !zone.empty()) return moment->scalar();
    if (IsBeyondNanoseconds(full, zone)) {
      return arrow::Status::TypeError(
          "expected at most six fractional digits in a time out of range of nanoseconds, "
          "before 1677-09-21 or after 2262-04-11, got '",
          text, "'");
    }
  }
  return arrow::Status::TypeError(
      "expected a date such as '2013-02' or '2013-02-01 05:30'",
      zone.empty() ? ", without an offset," : "", " to compare with ", type.ToString(),
      ", got '", text, "'");
}

}  // namespace xshards
