// SPDX-License-Identifier: Apache-2.0
#include "io/csv_inference.h"

#include <algorithm>
#include <string_view>

#include <arrow/csv/converter.h>
#include <arrow/status.h>

namespace xshards::io {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

bool IsInteger(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return c >= '0' && c <= '9'; });
}

// True if `test` holds for some value of the column.
template <typename Test>
arrow::Result<bool> AnyValue(const arrow::csv::BlockParser& parser, int column,
                             const Test& test) {
  bool any = false;
  ARROW_RETURN_NOT_OK(parser.VisitColumn(column, [&](const uint8_t* data, uint32_t size,
                                                     bool /*quoted*/, bool /*missing*/) {
    any = any || test(Trim(std::string_view(reinterpret_cast<const char*>(data), size)));
    return arrow::Status::OK();
  }));
  return any;
}

bool IsIntegral(CsvGuess guess) {
  return guess == CsvGuess::kInt64 || guess == CsvGuess::kUInt64;
}

}  // namespace

arrow::Result<CsvGuess> GuessColumn(const arrow::csv::BlockParser& parser, int column,
                                    const arrow::csv::ConvertOptions& options,
                                    arrow::MemoryPool* pool) {
  if (parser.num_rows() == 0) return CsvGuess::kNoRows;
  const auto converts =
      [&](const std::shared_ptr<arrow::DataType>& type) -> arrow::Result<bool> {
    ARROW_ASSIGN_OR_RAISE(const auto converter,
                          arrow::csv::Converter::Make(type, options, pool));
    return converter->Convert(parser, column).ok();
  };
  ARROW_ASSIGN_OR_RAISE(const bool is_missing, converts(arrow::null()));
  if (is_missing) return CsvGuess::kMissing;
  for (const auto& [type, guess] : {std::pair(arrow::int64(), CsvGuess::kInt64),
                                    std::pair(arrow::uint64(), CsvGuess::kUInt64)}) {
    ARROW_ASSIGN_OR_RAISE(const bool is_integer, converts(type));
    if (!is_integer) continue;
    // Arrow takes hexadecimal digits for a number, pandas does not.
    ARROW_ASSIGN_OR_RAISE(const bool has_hex,
                          AnyValue(parser, column, [](std::string_view value) {
                            return value.find_first_of("xX") != std::string_view::npos;
                          }));
    return has_hex ? CsvGuess::kText : guess;
  }
  ARROW_ASSIGN_OR_RAISE(const bool is_float, converts(arrow::float64()));
  if (is_float) {
    // Integers too long for 64 bits would lose digits as floats: they stay text, unless
    // something else in the column is a float anyway.
    ARROW_ASSIGN_OR_RAISE(
        const bool has_float, AnyValue(parser, column, [](std::string_view value) {
          return !IsInteger(value) &&
                 value.find_first_of("0123456789iI") != std::string_view::npos;
        }));
    return has_float ? CsvGuess::kFloat64 : CsvGuess::kText;
  }
  ARROW_ASSIGN_OR_RAISE(const bool is_bool, converts(arrow::boolean()));
  return is_bool ? CsvGuess::kBool : CsvGuess::kText;
}

CsvGuess Widen(CsvGuess left, CsvGuess right) {
  if (left == right) return left;
  const CsvGuess low = std::min(left, right);
  const CsvGuess high = std::max(left, right);
  if (low <= CsvGuess::kMissing) return high;
  if (IsIntegral(low) && IsIntegral(high)) return CsvGuess::kUInt64;
  if (IsIntegral(low) && high == CsvGuess::kFloat64) return CsvGuess::kFloat64;
  return CsvGuess::kText;
}

std::shared_ptr<arrow::DataType> TypeOf(CsvGuess guess) {
  switch (guess) {
    case CsvGuess::kMissing:
    case CsvGuess::kFloat64:
      return arrow::float64();
    case CsvGuess::kBool:
      return arrow::boolean();
    case CsvGuess::kInt64:
      return arrow::int64();
    case CsvGuess::kUInt64:
      return arrow::uint64();
    case CsvGuess::kNoRows:
    case CsvGuess::kText:
      break;
  }
  return arrow::large_utf8();
}

}  // namespace xshards::io
