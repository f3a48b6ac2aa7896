// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xshards/export.h"

namespace xshards::io {

/// A point in time, as it was written.
struct CsvTime {
  int64_t seconds = 0;  // since 1970
  int32_t nanoseconds = 0;
  bool is_fine = false;  // with more than six fractional digits

  bool operator==(const CsvTime&) const = default;
};

/// A strptime format, parsed as in pandas: numbers may lack leading zeros, blanks may be
/// repeated, and letters may be in either case.
class XSHARDS_EXPORT TimeFormat {
 public:
  /// nullopt for a format that has no year, a directive twice or an unsupported one;
  /// supported are %Y %y %m %b %B %d %a %A %H %I %p %M %S %f %z %%.
  static std::optional<TimeFormat> Make(std::string_view format);

  /// The time of a text that matches completely; nullopt for other texts and for zones
  /// other than UTC.
  std::optional<CsvTime> Read(std::string_view text) const;
  bool is_utc() const { return is_utc_; }  // has a %z

 private:
  enum class Kind : uint8_t {
    kYear,
    kShortYear,
    kMonth,
    kMonthName,
    kShortMonthName,
    kDay,
    kWeekdayName,
    kShortWeekdayName,
    kHour,
    kHour12,
    kHalf,
    kMinute,
    kSecond,
    kFraction,
    kZone,
    kBlanks,
    kLiteral,
  };
  struct Part {
    Kind kind;
    char literal = 0;
  };
  struct Fields;

  TimeFormat() = default;
  static std::optional<Kind> KindOf(char directive);
  void RecogniseIso(std::string_view format);
  std::optional<CsvTime> ReadIso(std::string_view text) const;
  // Match the parts from `part` on with the complete text.
  bool Match(size_t part, std::string_view text, Fields* fields) const;
  bool MatchNumber(size_t part, std::string_view text, Fields* fields) const;
  bool MatchName(size_t part, std::string_view text, Fields* fields) const;
  bool MatchZone(size_t part, std::string_view text, Fields* fields) const;

  std::vector<Part> parts_;
  bool is_utc_ = false;
  // For an ISO 8601 format, which is tried with all zeros first: the length up to the
  // seconds (0: another format), the separator of date and time, and the suffix.
  size_t iso_length_ = 0;
  char iso_between_ = 0;
  bool iso_has_fraction_ = false;
};

}  // namespace xshards::io
