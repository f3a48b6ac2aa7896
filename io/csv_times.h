// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/type.h>

#include "io/csv_options.h"
#include "io/csv_rows.h"
#include "io/csv_values.h"

namespace xshards::io {

/// How the times of a column are written: as the first of them is, as in pandas.
class TimeText {
 public:
  /// Nothing for a text that is no time of ISO 8601: a date with four, two and two
  /// digits, and perhaps hours and minutes, seconds, up to six digits of them, and "Z".
  static std::optional<TimeText> Like(std::string_view first);

  /// Timestamps of microseconds; of UTC where times end in "Z".
  std::shared_ptr<arrow::DataType> type() const;
  /// Microseconds since 1970; nothing for what is written in another way, or is no time.
  std::optional<int64_t> Read(std::string_view text) const;

 private:
  TimeText() = default;

  size_t length_ = 0;  // up to the last second
  char between_ = 0;   // date and time: 'T', ' ', or NUL for dates alone
  bool has_fraction_ = false;
  bool is_utc_ = false;
};

/// How the times of a column are written, where it is to hold times.
std::optional<TimeText> TimesOf(const std::string& column, const CsvOptions& options);

/// Whether a text is missing among times, besides what is missing everywhere.
bool IsNoTime(std::string_view text);

/// The kinds of the first rows of a column of times: a time is an integer, all else that
/// there is is text.
CsvKinds TimeKindsOf(const TimeText& times, const CsvValues& values, const CsvRows& rows,
                     int64_t column, int64_t num_rows);
/// A field of a column of times that has these kinds: text where one is text.
std::shared_ptr<arrow::Field> TimeFieldOf(const TimeText& times, CsvKinds kinds,
                                          const std::shared_ptr<arrow::Field>& field);

}  // namespace xshards::io
