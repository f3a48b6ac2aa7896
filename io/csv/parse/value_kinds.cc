// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/value_kinds.h"

#include <algorithm>

#include "io/csv/parse/number_parser.h"
#include "xshards/types/json_text_field.h"

namespace xshards::io {
namespace {

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

bool Has(CsvKinds kinds, CsvKind kind) { return (kinds & BitOf(kind)) != 0; }

bool HasInteger(CsvKinds kinds) {
  return Has(kinds, CsvKind::kNegative) || Has(kinds, CsvKind::kInteger) ||
         Has(kinds, CsvKind::kUnsigned) || Has(kinds, CsvKind::kHuge);
}

constexpr CsvKinds kNumbers = 0b1111100;

// The kinds if no number is also a boolean.
CsvKinds WithoutBooleans(CsvKinds kinds) {
  return static_cast<CsvKinds>(kinds | (kinds >> kTruthShift & kNumbers));
}

// As in pandas, true wins for a text listed as both, and these spellings keep their value
// even if listed otherwise. Empty if there are no others.
std::map<std::string, bool, std::less<>> BooleansOf(const CsvOptions& options) {
  std::map<std::string, bool, std::less<>> booleans;
  if (options.true_values.empty() && options.false_values.empty() &&
      options.long_sep.empty()) {
    return booleans;
  }
  for (const auto& value : options.true_values) booleans.emplace(value, true);
  for (const char* value : {"True", "TRUE", "true"}) booleans.emplace(value, true);
  for (const auto& value : options.false_values) booleans.emplace(value, false);
  for (const char* value : {"False", "FALSE", "false"}) booleans.emplace(value, false);
  return booleans;
}

// Append the text after an opening quote, from quote to quote: two quotes become one;
// after a single one the field is unchanged.
void Unquote(std::string_view text, char quote, bool doublequote, std::string* out) {
  size_t at = text.find(quote);
  while (at != std::string_view::npos) {
    const bool is_doubled = doublequote && at + 1 < text.size() && text[at + 1] == quote;
    out->append(text.substr(0, at + (is_doubled ? 1 : 0)));
    text.remove_prefix(at + (is_doubled ? 2 : 1));
    at = is_doubled ? text.find(quote) : std::string_view::npos;
  }
  out->append(text);
}

}  // namespace

MissingValues::MissingValues(const CsvOptions& options, const std::string& column) {
  if (!options.na_filter) return;
  if (options.keep_default_na) {
    values_ = {"",     "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
               "-nan", "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL",
               "NaN",  "None",   "n/a",      "nan",  "null"};
  }
  for (const auto& value : options.na_values) Add(value);
  if (const auto own = options.column_na_values.find(column);
      own != options.column_na_values.end()) {
    for (const auto& value : own->second) Add(value);
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

void MissingValues::Add(const std::string& value) {
  values_.insert(value);
  double number = 0;
  if (ReadFloat(value, &number)) numbers_.insert(number);
  hide_values_ = hide_values_ || !numbers_.empty() || EqualsIgnoringCase(value, "true") ||
                 EqualsIgnoringCase(value, "false");
}

CsvValues::CsvValues(const CsvOptions& options, const std::string& column)
    : missing_(options, column),
      quote_(options.quotechar.value_or('\0')),
      escape_(options.escapechar),
      has_quote_(options.quotechar.has_value()),
      doublequote_(options.doublequote),
      booleans_have_cases_(!options.long_sep.empty()),
      numbers_(options.decimal, options.thousands),
      are_floats_(options.numbers_are_floats),
      booleans_(BooleansOf(options)),
      has_truth_numbers_(std::any_of(
          booleans_.begin(), booleans_.end(),
          [this](const auto& truth) { return ClassifyNumber(truth.first) != 0; })),
      has_quick_kinds_(take_quick_numbers() && !are_floats_ && !has_truth_numbers_) {}

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
    Unquote(field.substr(1), quote, doublequote_, scratch);
    return *scratch;
  }
  bool in_quotes = is_quoted;
  for (size_t i = is_quoted ? 1 : 0; i < field.size(); ++i) {
    const char c = field[i];
    if (c == escape_) {
      if (++i < field.size()) scratch->push_back(field[i]);
    } else if (in_quotes && c == quote) {
      // Two quotes become one; after a single one the field is unchanged.
      if (doublequote_ && i + 1 < field.size() && field[i + 1] == quote) {
        scratch->push_back(quote);
        ++i;
      } else {
        in_quotes = false;
        // Here an escape has no effect, see scalar_tokenizer.
        if (doublequote_ && i + 1 < field.size() && field[i + 1] == escape_) {
          scratch->push_back(field[++i]);
        }
      }
    } else {
      scratch->push_back(c);
    }
  }
  return *scratch;
}

std::optional<bool> CsvValues::ReadBool(std::string_view value) const {
  if (const auto truth = booleans_.find(value); truth != booleans_.end()) {
    return truth->second;
  }
  if (booleans_have_cases_) return std::nullopt;
  if (EqualsIgnoringCase(value, "true")) return true;
  if (EqualsIgnoringCase(value, "false")) return false;
  return std::nullopt;
}

CsvKinds CsvValues::ClassifyNumber(std::string_view value) const {
  std::string scratch;
  const auto number = numbers_.ToPlain(value, &scratch);
  if (!number.has_value()) return 0;
  double ignored = 0;
  if (are_floats_) return ReadFloat(*number, &ignored) ? BitOf(CsvKind::kFloat) : 0;
  const bool is_separated = number->size() < TrimBlanks(value).size();
  const CsvKinds separated = is_separated ? BitOf(CsvKind::kSeparated) : 0;
  uint64_t bits = 0;
  switch (ReadInteger(*number, &bits)) {
    case IntegerText::kInt64:
      return BitOf(static_cast<int64_t>(bits) < 0 ? CsvKind::kNegative
                                                  : CsvKind::kInteger) |
             separated;
    case IntegerText::kUInt64:
      return BitOf(CsvKind::kUnsigned) | separated;
    case IntegerText::kHuge:
      return BitOf(CsvKind::kHuge) | separated;
    case IntegerText::kNotInteger:
      break;
  }
  return ReadFloat(*number, &ignored) ? BitOf(CsvKind::kFloat) : 0;
}

CsvKinds CsvValues::Classify(std::string_view value) const {
  if (missing_.Contains(value)) return BitOf(CsvKind::kMissing);
  if (const CsvKinds kinds = ClassifyNumber(value); kinds != 0) {
    const bool is_truth = has_truth_numbers_ && booleans_.contains(value);
    if (!is_truth) return kinds;
    return static_cast<CsvKinds>((kinds & kNumbers) << kTruthShift | (kinds & ~kNumbers));
  }
  return BitOf(ReadBool(value).has_value() ? CsvKind::kBool : CsvKind::kText);
}

std::optional<CsvKind> CsvValues::QuickKind(std::string_view field) const {
  if (field.empty() || !has_quick_kinds_) return std::nullopt;
  const char* const end = field.data() + field.size();
  int64_t integer = 0;
  if (QuickInteger(field.data(), end, &integer)) {
    return integer < 0 ? CsvKind::kNegative : CsvKind::kInteger;
  }
  // None of the rest is an integer: accepted numbers have a point.
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
    kinds |= Classify(value);
  }
  return kinds;
}

CsvColumnValues::CsvColumnValues(const CsvOptions& options)
    : common_(std::make_unique<const CsvValues>(options)) {
  for (const auto& [name, values] : options.column_na_values) {
    own_.try_emplace(name, options, name);
  }
}

const CsvValues& CsvColumnValues::Of(const std::string& column) const {
  const auto own = own_.find(column);
  return own == own_.end() ? *common_ : own->second;
}

std::shared_ptr<arrow::DataType> TypeOf(CsvKinds kinds) {
  if (kinds == 0 || Has(kinds, CsvKind::kText)) return arrow::large_utf8();
  if (Has(kinds, CsvKind::kBool)) {
    const bool is_mixed = HasInteger(kinds) || Has(kinds, CsvKind::kFloat);
    return is_mixed ? arrow::large_utf8() : arrow::boolean();
  }
  kinds = WithoutBooleans(kinds);
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
  if (!Has(kinds, CsvKind::kBool)) kinds = WithoutBooleans(kinds);
  return Has(kinds, CsvKind::kHuge) && !Has(kinds, CsvKind::kSeparated) &&
         !Has(kinds, CsvKind::kText) && !Has(kinds, CsvKind::kBool) &&
         !Has(kinds, CsvKind::kFloat);
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
