// SPDX-License-Identifier: Apache-2.0
#include "io/csv/convert/number_converter.h"

#include <string>
#include <type_traits>
#include <utility>

#include "io/csv/convert/validity_builder.h"
#include "io/csv/parse/number_parser.h"

namespace xshards::io {
namespace {

// How numbers of a type are read: Quick reads common forms, inlined; Slow the rest.

struct Int64Text {
  using Value = int64_t;
  static bool Quick(const char* begin, const char* end, int64_t* value) {
    return QuickInteger(begin, end, value);
  }
  static bool Slow(std::string_view text, bool /*inferred*/, int64_t* value) {
    uint64_t bits = 0;
    if (ReadInteger(text, &bits) != IntegerText::kInt64) return false;
    *value = static_cast<int64_t>(bits);
    return true;
  }
  static constexpr bool kInferredTakesNull = true;
};

struct UInt64Text {
  using Value = uint64_t;
  static bool Quick(const char* begin, const char* end, uint64_t* value) {
    int64_t integer = 0;
    if (!QuickInteger(begin, end, &integer) || integer < 0) return false;
    *value = static_cast<uint64_t>(integer);
    return true;
  }
  static bool Slow(std::string_view text, bool /*inferred*/, uint64_t* value) {
    const IntegerText read = ReadInteger(text, value);
    return read == IntegerText::kUInt64 ||
           (read == IntegerText::kInt64 && static_cast<int64_t>(*value) >= 0);
  }
  static constexpr bool kInferredTakesNull = false;
};

struct Float64Text {
  using Value = double;
  static bool Quick(const char* begin, const char* end, double* value) {
    return QuickFloat(begin, end, value);
  }
  static bool Slow(std::string_view text, bool inferred, double* value) {
    if (inferred) {
      uint64_t bits = 0;
      const IntegerText integer = ReadInteger(text, &bits);
      if (integer == IntegerText::kUInt64 || integer == IntegerText::kHuge) return false;
    }
    return ReadFloat(text, value);
  }
  static constexpr bool kInferredTakesNull = true;
};

template <typename Text>
class NumberColumn final : public CsvColumn {
 public:
  using Value = typename Text::Value;

  NumberColumn(std::shared_ptr<arrow::DataType> type, bool inferred,
               const CsvValues* values, arrow::MemoryPool* pool)
      : type_(std::move(type)), inferred_(inferred), values_(values), pool_(pool) {}

  arrow::Status Start(int64_t capacity) override {
    size_ = 0;
    validity_.Start(capacity);
    return arrow::AllocateResizableBuffer(capacity * static_cast<int64_t>(sizeof(Value)),
                                          pool_)
        .Value(&data_);
  }

  arrow::Result<int64_t> Append(const CsvRows& rows, int64_t column, int64_t from,
                                int64_t to) override {
    auto* out = reinterpret_cast<Value*>(data_->mutable_data()) + size_;
    const auto [text, ends, firsts] = rows.FieldsOf(column);
    const bool quick = values_->take_quick_numbers();
    for (int64_t row = from; row < to; ++row, ++out) {
      const uint32_t* const end = ends + firsts[row];
      const uint32_t begin = end[-1] + 1;
      if (begin != *end && quick && Text::Quick(text + begin, text + *end, out)) {
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(const bool fits, AppendSlow({text + begin, *end - begin},
                                                        size_ + (row - from), out));
      if (!fits) return row;
    }
    size_ += to - from;
    return to;
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    return FinishArray(type_, size_, &validity_, std::move(data_));
  }

 private:
  arrow::Result<bool> AppendSlow(std::string_view field, int64_t at, Value* out) {
    std::string_view value = field;
    if (values_->IsEscaped(field)) value = values_->Unescape(field, &scratch_);
    if (values_->missing().Contains(value)) {
      if (inferred_ && !Text::kInferredTakesNull) return false;
      *out = Value{};
      ARROW_RETURN_NOT_OK(validity_.SetMissing(at, pool_));
      return true;
    }
    const auto number = values_->numbers().ToPlain(value, &plain_);
    if (!number.has_value() || !Text::Slow(*number, inferred_, out)) return false;
    if (values_->missing().hide_values() && std::is_same_v<Value, double> &&
        values_->missing().ContainsNumber(static_cast<double>(*out))) {
      ARROW_RETURN_NOT_OK(validity_.SetMissing(at, pool_));
    }
    return true;
  }

  const std::shared_ptr<arrow::DataType> type_;
  const bool inferred_;
  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  std::shared_ptr<arrow::ResizableBuffer> data_;
  Validity validity_;
  int64_t size_ = 0;
  std::string scratch_;
  std::string plain_;
};

}  // namespace

std::unique_ptr<CsvColumn> MakeNumberColumn(const std::shared_ptr<arrow::DataType>& type,
                                            bool inferred, const CsvValues* values,
                                            arrow::MemoryPool* pool) {
  switch (type->id()) {
    case arrow::Type::INT64:
      return std::make_unique<NumberColumn<Int64Text>>(type, inferred, values, pool);
    case arrow::Type::UINT64:
      return std::make_unique<NumberColumn<UInt64Text>>(type, inferred, values, pool);
    default:
      return std::make_unique<NumberColumn<Float64Text>>(type, inferred, values, pool);
  }
}

}  // namespace xshards::io
