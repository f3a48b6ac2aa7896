// SPDX-License-Identifier: Apache-2.0
#include "io/misfit_place.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "io/csv_dialect.h"
#include "io/csv_options.h"
#include "xshards/guessed_types.h"

namespace xshards::io {
namespace {

constexpr std::string_view kByte = ", byte ";
constexpr size_t kShown = 100;

std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

// "7+3", to the end of the text.
std::optional<TextPlace> ReadPlace(std::string_view text) {
  const auto begin = TakeNumber(&text);
  if (!begin.has_value() || !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto offset = TakeNumber(&text);
  if (!offset.has_value() || !text.empty()) return std::nullopt;
  return TextPlace{.begin = *begin, .offset = *offset};
}

// The file of a scan that a text ends with, in quotes.
std::optional<std::string> FileAtEnd(const ScanNode& scan, std::string_view text) {
  const auto found = std::find_if(
      scan.splits.begin(), scan.splits.end(),
      [&](const Split& split) { return text.ends_with(" in '" + split.path + "'"); });
  if (found == scan.splits.end()) return std::nullopt;
  return found->path;
}

// The place with its line; nothing where it is not in the scan or cannot be read.
std::optional<std::string> WithLine(const ScanNode& scan, const TextFormat& format,
                                    std::string_view place, arrow::MemoryPool* pool) {
  const size_t numbers = place.rfind(kByte);
  if (numbers == std::string_view::npos) return std::nullopt;
  const auto bytes = ReadPlace(place.substr(numbers + kByte.size()));
  const auto path = FileAtEnd(scan, place.substr(0, numbers));
  if (!bytes.has_value() || !path.has_value()) return std::nullopt;
  const auto line = LineNumber(*path, format, *bytes, pool);
  if (!line.ok()) return std::nullopt;
  return std::string(place.substr(0, numbers)) + ", line " + std::to_string(*line);
}

}  // namespace

arrow::Status MisfitAt(std::string_view value, const std::string& column,
                       const std::string& path, TextPlace place) {
  std::string text;
  if (!value.empty()) text.append("'").append(value.substr(0, kShown)).append("' ");
  text.append("of column '").append(column).append("' in '").append(path).append("'");
  text.append(kByte).append(std::to_string(place.begin)).append("+");
  return Misfit(text + std::to_string(place.offset));
}

std::string DescribeCsvPlace(const ScanNode& scan, const std::string& place,
                             arrow::MemoryPool* pool) {
  const auto options = CsvOptions::FromMap(scan.options);
  if (!options.ok()) return place;
  const auto described = WithLine(scan, ToTextFormat(*options), place, pool);
  if (!described.has_value()) return place;
  return *described + "; to read such values as missing, name them in na_values";
}

std::string DescribeJsonPlace(const ScanNode& scan, const std::string& place,
                              arrow::MemoryPool* pool) {
  return WithLine(scan, {}, place, pool).value_or(place);
}

}  // namespace xshards::io
