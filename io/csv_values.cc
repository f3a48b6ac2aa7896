// SPDX-License-Identifier: Apache-2.0
#include "io/csv_values.h"

#include <cstring>

#include "io/csv_numbers.h"
#include "io/json_mark.h"

namespace xshards::io {
namespace {

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

bool Has(CsvKinds kinds, CsvKind kind) {
  return (kinds & static_cast<CsvKinds>(kind)) != 0;
}

bool HasInteger(CsvKinds kinds) {
  return Has(kinds, CsvKind::kNegative) || Has(kinds, CsvKind::kInteger) ||
         Has(kinds, CsvKind::kUnsigned) || Has(kinds, CsvKind::kHuge);
}

// Append the text behind an opening quote, from quote to quote: the second of two stands
// for both; behind a single one the field is as it is.
void Unquote(std::string_view text, char quote, std::string* out) {
  size_t at = text.find(quote);
  while (at != std::string_view::npos) {
    const bool is_doubled = at + 1 < text.size() && text[at + 1] == quote;
    out->append(text.substr(0, at + (is_doubled ? 1 : 0)));
    text.remove_prefix(at + (is_doubled ? 2 : 1));
    at = is_doubled ? text.find(quote) : std::string_view::npos;
  }
  out->append(text);
}

}  // namespace

MissingValues::MissingValues(const CsvOptions& options) {
  if (!options.na_filter) return;
  if (options.keep_default_na) {
    values_ = {"",     "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
               "-nan", "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL",
               "NaN",  "None",   "n/a",      "nan",  "null"};
  }
  for (const auto& value : options.na_values) {
    values_.insert(value);
    double number = 0;
    if (ReadFloat(value, &number)) numbers_.insert(number);
    hide_values_ = hide_values_ || !numbers_.empty() ||
                   EqualsIgnoringCase(value, "true") ||
                   EqualsIgnoringCase(value, "false");
  }
  for (const auto& value : values_) {
    if (value.empty()) {
      has_empty_ = true;
    } else {
      lengths_[static_cast<uint8_t>(value.front())] |=
          uint64_t{1} << std::min<size_t>(value.size(), 63);
    }
  }
}

CsvValues::CsvValues(const CsvOptions& options)
    : missing_(options),
      quote_(options.quotechar.value_or('\0')),
      escape_(options.escapechar),
      has_quote_(options.quotechar.has_value()) {}

std::string_view CsvValues::Unescape(std::string_view field, std::string* scratch) const {
  const char quote = quote_;
  const bool is_quoted = has_quote_ && field.starts_with(quote);
  if (!is_quoted && !escape_.has_value()) return field;
  if (is_quoted && !escape_.has_value() && field.size() >= 2 && field.back() == quote) {
    const std::string_view inner = field.substr(1, field.size() - 2);
    if (inner.find(quote) == std::string_view::npos) return inner;
  }
  scratch->clear();
  if (!escape_.has_value()) {
    Unquote(field.substr(1), quote, scratch);
    return *scratch;
  }
  bool in_quotes = is_quoted;
  for (size_t i = is_quoted ? 1 : 0; i < field.size(); ++i) {
    const char c = field[i];
    if (c == escape_) {
      if (++i < field.size()) scratch->push_back(field[i]);
    } else if (in_quotes && c == quote) {
      // The second of two stands for both; behind a single one the field is as it is.
      if (i + 1 < field.size() && field[i + 1] == quote) {
        scratch->push_back(quote);
        ++i;
      } else {
        in_quotes = false;
      }
    } else {
      scratch->push_back(c);
    }
  }
  return *scratch;
}

std::optional<bool> CsvValues::ReadBool(std::string_view value) const {
  if (EqualsIgnoringCase(value, "true")) return true;
  if (EqualsIgnoringCase(value, "false")) return false;
  return std::nullopt;
}

CsvKind CsvValues::Classify(std::string_view value) const {
  if (missing_.Contains(value)) return CsvKind::kMissing;
  uint64_t bits = 0;
  switch (ReadInteger(value, &bits)) {
    case IntegerText::kInt64:
      return static_cast<int64_t>(bits) < 0 ? CsvKind::kNegative : CsvKind::kInteger;
    case IntegerText::kUInt64:
      return CsvKind::kUnsigned;
    case IntegerText::kHuge:
      return CsvKind::kHuge;
    case IntegerText::kNotInteger:
      break;
  }
  double number = 0;
  if (ReadFloat(value, &number)) return CsvKind::kFloat;
  return ReadBool(value).has_value() ? CsvKind::kBool : CsvKind::kText;
}

std::optional<CsvKind> CsvValues::QuickKind(std::string_view field) const {
  if (field.empty() || missing_.hide_values()) return std::nullopt;
  const char* const end = field.data() + field.size();
  int64_t integer = 0;
  if (QuickInteger(field.data(), end, &integer)) {
    return integer < 0 ? CsvKind::kNegative : CsvKind::kInteger;
  }
  // Of what is left none is an integer: those it takes have a point.
  double number = 0;
  if (QuickFloat(field.data(), end, &number)) return CsvKind::kFloat;
  return std::nullopt;
}

CsvKinds CsvValues::KindsOf(const CsvRows& rows, int64_t column, int64_t num_rows) const {
  CsvKinds kinds = 0;
  std::string scratch;
  for (int64_t row = 0; row < num_rows; ++row) {
    const auto field = rows.Field(row, column);
    if (const auto number = QuickKind(field); number.has_value()) {
      kinds |= static_cast<CsvKinds>(*number);
      continue;
    }
    const auto value = IsEscaped(field) ? Unescape(field, &scratch) : field;
    kinds |= static_cast<CsvKinds>(Classify(value));
  }
  return kinds;
}

std::shared_ptr<arrow::DataType> TypeOf(CsvKinds kinds) {
  if (kinds == 0 || Has(kinds, CsvKind::kText)) return arrow::large_utf8();
  if (Has(kinds, CsvKind::kBool)) {
    const bool is_mixed = HasInteger(kinds) || Has(kinds, CsvKind::kFloat);
    return is_mixed ? arrow::large_utf8() : arrow::boolean();
  }
  if (Has(kinds, CsvKind::kFloat)) return arrow::float64();
  if (Has(kinds, CsvKind::kHuge)) return arrow::large_utf8();
  if (Has(kinds, CsvKind::kUnsigned)) {
    const bool conflicts =
        Has(kinds, CsvKind::kNegative) || Has(kinds, CsvKind::kMissing);
    return conflicts ? arrow::large_utf8() : arrow::uint64();
  }
  return HasInteger(kinds) ? arrow::int64() : arrow::float64();
}

bool AreHugeIntegers(CsvKinds kinds) {
  return Has(kinds, CsvKind::kHuge) && !Has(kinds, CsvKind::kText) &&
         !Has(kinds, CsvKind::kBool) && !Has(kinds, CsvKind::kFloat);
}

std::shared_ptr<arrow::Field> FieldOf(CsvKinds kinds,
                                      const std::shared_ptr<arrow::Field>& field) {
  auto typed = field->WithType(TypeOf(kinds));
  if (!AreHugeIntegers(kinds)) return typed;
  return typed->WithMergedMetadata(JsonTextField(field->name())->metadata());
}

bool IsProvisionalText(CsvKinds kinds) {
  return TypeOf(kinds)->id() == arrow::Type::LARGE_STRING &&
         !Has(kinds, CsvKind::kText) && !Has(kinds, CsvKind::kBool);
}

}  // namespace xshards::io
