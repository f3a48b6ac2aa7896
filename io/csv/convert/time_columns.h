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

/// How the times of a column are written, where it is to hold times.
std::optional<TimeFormat> TimesOf(const std::string& column, const CsvOptions& options);

/// Whether a text is missing among times, besides what is missing everywhere.
bool IsNoTime(std::string_view text);

/// A time in a unit; nothing where that cannot hold it: digits beyond microseconds, dates
/// beyond the range of nanoseconds, and any time in seconds, which stand for none at all.
std::optional<int64_t> InUnit(const CsvTime& time, arrow::TimeUnit::type unit);

/// The kinds of the first rows of a column of times. A time is an integer, with more than
/// six digits of seconds a float, and huge where nanoseconds cannot hold it. All else
/// that there is is text.
CsvKinds TimeKindsOf(const TimeFormat& times, const CsvValues& values,
                     const CsvRows& rows, int64_t column, int64_t num_rows);
/// A field of a column of times that has these kinds: microseconds, or nanoseconds where
/// one is written so; seconds where all are missing. Text where one is text, or does not
/// fit.
std::shared_ptr<arrow::Field> TimeFieldOf(const TimeFormat& times, CsvKinds kinds,
                                          const std::shared_ptr<arrow::Field>& field);

}  // namespace xshards::io
