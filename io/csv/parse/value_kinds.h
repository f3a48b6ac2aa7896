// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type.h>

#include "io/csv/options.h"
#include "io/csv/parse/number_format.h"
#include "io/csv/parse/rows.h"

namespace xshards::io {

/// The null markers.
class MissingValues {
 public:
  /// Those of a column, if it has its own.
  explicit MissingValues(const CsvOptions& options, const std::string& column = {});

  bool Contains(std::string_view value) const {
    // First bytes and lengths exclude nearly all texts.
    const uint64_t lengths =
        value.empty() ? 0 : lengths_[static_cast<uint8_t>(value.front())];
    if (value.empty()) return has_empty_;
    return (lengths >> std::min<size_t>(value.size(), 63) & 1) != 0 && Find(value);
  }
  /// Whether some could also be read as a value: they must be checked first.
  bool hide_values() const { return hide_values_; }
  /// Whether a number equals a numeric null marker, in any notation.
  bool ContainsNumber(double value) const { return numbers_.contains(value); }

 private:
  bool Find(std::string_view value) const { return values_.contains(value); }
  void Add(const std::string& value);

  std::set<std::string, std::less<>> values_;
  std::set<double> numbers_;
  std::array<uint64_t, 256> lengths_{};  // of values by first byte, one bit each
  bool has_empty_ = false;
  bool hide_values_ = false;
};

/// The kind of a field in pandas.read_csv; for a column, the kinds seen.
enum class CsvKind : uint16_t {
  kMissing = 1,
  kBool = 2,
  kNegative = 4,   // int64
  kInteger = 8,    // int64
  kUnsigned = 16,  // too large for int64
  kHuge = 32,      // too large for uint64
  kFloat = 64,
  kText = 128,
  kSeparated = 256,  // an integer with thousands separators
};
/// A set of these. A number that is also a boolean has the bit of its kind shifted by
/// kTruthShift.
using CsvKinds = uint16_t;
inline CsvKinds BitOf(CsvKind kind) { return static_cast<CsvKinds>(kind); }
inline constexpr int kTruthShift = 8;

/// How the text of fields is converted to values.
class CsvValues {
 public:
  /// Those of a column, if it has its own null markers.
  explicit CsvValues(const CsvOptions& options, const std::string& column = {});

  const MissingValues& missing() const { return missing_; }
  /// Whether the field must be rewritten by Unescape before it is parsed.
  bool IsEscaped(std::string_view field) const {
    return escape_.has_value() ? !field.empty() : field.starts_with(quote_);
  }
  /// The quote character, if only quotes change the meaning of a field.
  std::optional<char> only_quotes() const {
    return has_quote_ && doublequote_ && !escape_.has_value() ? std::optional(quote_)
                                                              : std::nullopt;
  }
  /// The value of a quoted or escaped field; `scratch` may hold it.
  std::string_view Unescape(std::string_view field, std::string* scratch) const;
  std::optional<bool> ReadBool(std::string_view value) const;
  const NumberFormat& numbers() const { return numbers_; }
  /// Whether the Quick functions of number_parser.h read numbers correctly.
  bool take_quick_numbers() const {
    return numbers_.is_plain() && !missing_.hide_values();
  }
  CsvKinds Classify(std::string_view value) const;
  /// The kinds of the first rows of a column.
  CsvKinds KindsOf(const CsvRows& rows, int64_t column, int64_t num_rows) const;

 private:
  CsvKinds ClassifyNumber(std::string_view value) const;
  // The kind of a plain number, for fields that CsvRows found.
  std::optional<CsvKind> QuickKind(std::string_view field) const;

  const MissingValues missing_;
  const char quote_;  // NUL, with has_quote_ unset, if there is none
  const std::optional<char> escape_;
  const bool has_quote_;
  const bool doublequote_;
  const bool booleans_have_cases_;  // "tRUE" is none
  const NumberFormat numbers_;
  const bool are_floats_;
  // Texts for true and false, some of which may also be numbers.
  const std::map<std::string, bool, std::less<>> booleans_;
  const bool has_truth_numbers_;
  const bool has_quick_kinds_;  // QuickKind determines the kind of a number
};

/// The CsvValues of all columns, which differ if some have their own null markers.
class CsvColumnValues {
 public:
  explicit CsvColumnValues(const CsvOptions& options);

  /// Lives as long as this, even if this is moved.
  const CsvValues& Of(const std::string& column) const;

 private:
  std::unique_ptr<const CsvValues> common_;
  std::map<std::string, CsvValues, std::less<>> own_;
};

/// The type that pandas infers for a column of these kinds: see README.md.
std::shared_ptr<arrow::DataType> TypeOf(CsvKinds kinds);
/// Whether these are integers of which some exceed 64 bits: no Arrow type holds them, so
/// their text is marked as JSON, which becomes Python integers in pandas.
bool AreHugeIntegers(CsvKinds kinds);
/// A field of a column of these kinds, with `field`'s name and other metadata.
std::shared_ptr<arrow::Field> FieldOf(CsvKinds kinds,
                                      const std::shared_ptr<arrow::Field>& field);
/// Whether more values could make the type of these kinds a narrower one.
bool IsProvisionalText(CsvKinds kinds);

}  // namespace xshards::io
