// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/array.h>
#include <arrow/buffer_builder.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "io/json/on_demand.h"
#include "io/json/value_parser.h"

namespace xshards::io {

/// A value of a document.
struct JsonCell {
  enum class Kind : uint8_t {
    kAbsent,
    kNull,
    kBool,      // bits: 0 or 1
    kInteger,   // from 0; bits: as int64
    kNegative,  // the same, below 0
    kLarge,     // an integer beyond int64; bits: as uint64
    kReal,      // bits: a double
    // Bits of these: a place in the text.
    kHuge,     // an integer beyond 64 bits
    kText,     // without its quotes
    kEscaped,  // the same, with escapes
    kNested,   // an object or array
  };

  /// NaN is a null, as to pandas.
  static JsonCell OfNumber(const JsonNumberValue& number);
  /// A part of the text that starts at `text`, which is less than 4 GB.
  static JsonCell OfPart(Kind kind, const char* text, std::string_view part);

  Kind kind = Kind::kAbsent;
  uint64_t bits = 0;
};

/// The values of a column of a document, in any order of rows. A value replaces an
/// earlier one of its row, as in dicts.
class JsonCells {
 public:
  /// Rows that are not set are of the kind `missing`.
  explicit JsonCells(arrow::MemoryPool* pool,
                     JsonCell::Kind missing = JsonCell::Kind::kAbsent)
      : pool_(pool), missing_(missing), kinds_(pool), bits_(pool) {}

  arrow::Status Set(int64_t row, const JsonCell& cell);
  /// One more than the last row that was set.
  int64_t size() const { return kinds_.length(); }
  bool Has(int64_t row) const {
    return row < size() && kinds_.data()[row] != JsonCell::Kind::kAbsent;
  }
  /// Append missing values up to a number of rows.
  arrow::Status PadTo(int64_t num_rows);

  struct Column {
    std::shared_ptr<arrow::Field> field;
    std::shared_ptr<arrow::Array> values;
  };
  /// The column, of the type that JsonShape infers for its values; `text` is that of the
  /// document, and `on_demand` unescapes strings. Values that no type holds, objects and
  /// arrays become JSON text, in which null is an absent value and "null" a null; so do
  /// columns without values, and booleans some of which are absent.
  arrow::Result<Column> Finish(const std::string& name, const char* text,
                               JsonOnDemand* on_demand);

 private:
  using Kind = JsonCell::Kind;

  bool Is(int64_t row, Kind kind) const { return kinds_.data()[row] == kind; }
  std::string_view Part(int64_t row, const char* text) const;
  std::shared_ptr<arrow::Field> InferField(const std::string& name) const;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Validity(int64_t* null_count) const;
  arrow::Result<std::shared_ptr<arrow::Array>> Integers(
      const std::shared_ptr<arrow::DataType>& type);
  arrow::Result<std::shared_ptr<arrow::Array>> Doubles();
  arrow::Result<std::shared_ptr<arrow::Array>> Bools() const;
  arrow::Result<std::shared_ptr<arrow::Array>> Texts(const char* text,
                                                     JsonOnDemand* on_demand) const;
  arrow::Result<std::shared_ptr<arrow::Array>> JsonTexts(const char* text) const;

  arrow::MemoryPool* pool_;
  Kind missing_;
  arrow::TypedBufferBuilder<Kind> kinds_;
  arrow::TypedBufferBuilder<uint64_t> bits_;
};

}  // namespace xshards::io
