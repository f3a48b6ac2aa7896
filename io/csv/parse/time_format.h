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
  bool is_fine = false;  // with more than six digits of seconds

  bool operator==(const CsvTime&) const = default;
};

/// How times are written: a format of strptime, read as pandas reads it. So numbers may
/// lack leading zeros, blanks may be several, and letters may be of either case.
class XSHARDS_EXPORT TimeFormat {
 public:
  /// Nothing for a format that has no year, a directive twice or one that is not here:
  /// %Y %y %m %b %B %d %a %A %H %I %p %M %S %f %z %%.
  static std::optional<TimeFormat> Make(std::string_view format);

  /// The time that all of a text says; nothing for other texts, and for other zones than
  /// UTC.
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
  // Match the parts from one on with all of a text.
  bool Match(size_t part, std::string_view text, Fields* fields) const;
  bool MatchNumber(size_t part, std::string_view text, Fields* fields) const;
  bool MatchName(size_t part, std::string_view text, Fields* fields) const;
  bool MatchZone(size_t part, std::string_view text, Fields* fields) const;

  std::vector<Part> parts_;
  bool is_utc_ = false;
  // Of a format as in ISO 8601, which is read with all its zeros first: the length up to
  // the last second (0: it is none), what is between date and time, and what follows.
  size_t iso_length_ = 0;
  char iso_between_ = 0;
  bool iso_has_fraction_ = false;
};

}  // namespace xshards::io
