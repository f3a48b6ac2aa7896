// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/type.h>

#include "io/csv/options.h"
#include "io/csv/parse/rows.h"
#include "io/csv/parse/time_format.h"
#include "io/csv/parse/value_kinds.h"

namespace xshards::io {

/// The format of the times of a column, if it is a time column.
std::optional<TimeFormat> TimesOf(const std::string& column, const CsvOptions& options);

/// Whether a text is one of the null markers specific to timestamps.
bool IsNoTime(std::string_view text);

/// A time in a unit; nullopt if the unit cannot represent it: digits beyond microseconds,
/// dates out of range of nanoseconds, and any time in seconds, the unit of a column
/// without times.
std::optional<int64_t> InUnit(const CsvTime& time, arrow::TimeUnit::type unit);

/// The kinds of the first rows of a column of times. A time counts as an integer, as a
/// float if its seconds have more than six fractional digits, and as huge if it is out of
/// range of nanoseconds. All other values are text.
CsvKinds TimeKindsOf(const TimeFormat& times, const CsvValues& values,
                     const CsvRows& rows, int64_t column, int64_t num_rows);
/// The field of a column of times with these kinds: microseconds, or nanoseconds if a
/// value needs them; seconds if all are missing. Text if a value is text or does not fit.
std::shared_ptr<arrow::Field> TimeFieldOf(const TimeFormat& times, CsvKinds kinds,
                                          const std::shared_ptr<arrow::Field>& field);

}  // namespace xshards::io
