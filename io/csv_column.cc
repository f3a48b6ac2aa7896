// SPDX-License-Identifier: Apache-2.0
#include "io/csv_column.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/buffer.h>
#include <arrow/compute/cast.h>
#include <arrow/util/bit_util.h>

#include "io/csv_numbers.h"
#include "io/csv_unquote.h"
#include "io/packed_buffers.h"

namespace xshards::io {
namespace {

/// Which values of an array there are; costs nothing until one is missing.
class Validity {
 public:
  void Start(int64_t capacity) {
    capacity_ = capacity;
    num_missing_ = 0;
    bits_.reset();
  }
  arrow::Status SetMissing(int64_t at, arrow::MemoryPool* pool) {
    if (bits_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(
          bits_, arrow::AllocateBuffer(arrow::bit_util::BytesForBits(capacity_), pool));
      std::memset(bits_->mutable_data(), 0xFF, static_cast<size_t>(bits_->size()));
    }
    arrow::bit_util::ClearBit(bits_->mutable_data(), at);
    ++num_missing_;
    return arrow::Status::OK();
  }
  int64_t num_missing() const { return num_missing_; }
  std::shared_ptr<arrow::Buffer> Finish() { return std::move(bits_); }

 private:
  int64_t capacity_ = 0;
  int64_t num_missing_ = 0;
  std::shared_ptr<arrow::Buffer> bits_;
};

// How numbers of a type are read: Quick takes what is common, in place; Slow the rest.

struct Int64Text {
  using Value = int64_t;
  static bool Quick(const char* begin, const char* end, int64_t* value) {
    return QuickInteger(begin, end, value);
  }
  static bool Slow(std::string_view text, bool /*guessed*/, int64_t* value) {
    uint64_t bits = 0;
    if (ReadInteger(text, &bits) != IntegerText::kInt64) return false;
    *value = static_cast<int64_t>(bits);
    return true;
  }
  static constexpr bool kGuessTakesMissing = true;
};

struct UInt64Text {
  using Value = uint64_t;
  static bool Quick(const char* begin, const char* end, uint64_t* value) {
    int64_t integer = 0;
    if (!QuickInteger(begin, end, &integer) || integer < 0) return false;
    *value = static_cast<uint64_t>(integer);
    return true;
  }
  static bool Slow(std::string_view text, bool /*guessed*/, uint64_t* value) {
    const IntegerText read = ReadInteger(text, value);
    return read == IntegerText::kUInt64 ||
           (read == IntegerText::kInt64 && static_cast<int64_t>(*value) >= 0);
  }
  static constexpr bool kGuessTakesMissing = false;
};

struct Float64Text {
  using Value = double;
  static bool Quick(const char* begin, const char* end, double* value) {
    return QuickFloat(begin, end, value);
  }
  static bool Slow(std::string_view text, bool guessed, double* value) {
    if (guessed) {
      uint64_t bits = 0;
      const IntegerText integer = ReadInteger(text, &bits);
      if (integer == IntegerText::kUInt64 || integer == IntegerText::kHuge) return false;
    }
    return ReadFloat(text, value);
  }
  static constexpr bool kGuessTakesMissing = true;
};

template <typename Text>
class NumberColumn final : public CsvColumn {
 public:
  using Value = typename Text::Value;

  NumberColumn(std::shared_ptr<arrow::DataType> type, bool guessed,
               const CsvValues* values, arrow::MemoryPool* pool)
      : type_(std::move(type)), guessed_(guessed), values_(values), pool_(pool) {}

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
    const char* const text = rows.text();
    const uint32_t* const ends = rows.ends() + column;
    const uint32_t* const firsts = rows.firsts();
    const bool quick = !values_->missing().hide_values();
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
    const int64_t num_bytes = size_ * static_cast<int64_t>(sizeof(Value));
    GiveBackTail(data_.get(), num_bytes);
    ARROW_RETURN_NOT_OK(data_->Resize(num_bytes));
    const int64_t num_missing = validity_.num_missing();
    return arrow::MakeArray(arrow::ArrayData::Make(
        type_, size_, {validity_.Finish(), std::move(data_)}, num_missing));
  }

 private:
  arrow::Result<bool> AppendSlow(std::string_view field, int64_t at, Value* out) {
    std::string_view value = field;
    if (values_->IsEscaped(field)) value = values_->Unescape(field, &scratch_);
    if (values_->missing().Contains(value)) {
      if (guessed_ && !Text::kGuessTakesMissing) return false;
      *out = Value{};
      ARROW_RETURN_NOT_OK(validity_.SetMissing(at, pool_));
      return true;
    }
    if (!Text::Slow(value, guessed_, out)) return false;
    if (values_->missing().hide_values() && std::is_same_v<Value, double> &&
        values_->missing().ContainsNumber(static_cast<double>(*out))) {
      ARROW_RETURN_NOT_OK(validity_.SetMissing(at, pool_));
    }
    return true;
  }

  const std::shared_ptr<arrow::DataType> type_;
  const bool guessed_;
  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  std::shared_ptr<arrow::ResizableBuffer> data_;
  Validity validity_;
  int64_t size_ = 0;
  std::string scratch_;
};

class BoolColumn final : public CsvColumn {
 public:
  BoolColumn(const CsvValues* values, arrow::MemoryPool* pool)
      : values_(values), pool_(pool) {}

  arrow::Status Start(int64_t capacity) override {
    size_ = 0;
    validity_.Start(capacity);
    return arrow::AllocateEmptyBitmap(capacity, pool_).Value(&data_);
  }

  arrow::Result<int64_t> Append(const CsvRows& rows, int64_t column, int64_t from,
                                int64_t to) override {
    for (int64_t row = from; row < to; ++row, ++size_) {
      std::string_view value = rows.Field(row, column);
      if (values_->IsEscaped(value)) value = values_->Unescape(value, &scratch_);
      if (values_->missing().Contains(value)) {
        ARROW_RETURN_NOT_OK(validity_.SetMissing(size_, pool_));
      } else if (const auto truth = values_->ReadBool(value); truth.has_value()) {
        arrow::bit_util::SetBitTo(data_->mutable_data(), size_, *truth);
      } else {
        return row;
      }
    }
    return to;
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    const int64_t num_missing = validity_.num_missing();
    return arrow::MakeArray(arrow::ArrayData::Make(
        arrow::boolean(), size_, {validity_.Finish(), std::move(data_)}, num_missing));
  }

 private:
  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  std::shared_ptr<arrow::Buffer> data_;
  Validity validity_;
  int64_t size_ = 0;
  std::string scratch_;
};

class TextColumn final : public CsvColumn {
 public:
  TextColumn(std::shared_ptr<arrow::DataType> type, const CsvValues* values,
             arrow::MemoryPool* pool)
      : type_(std::move(type)), values_(values), pool_(pool) {}

  arrow::Status Start(int64_t capacity) override {
    size_ = 0;
    num_bytes_ = 0;
    capacity_ = capacity;
    text_.reset();
    validity_.Start(capacity);
    ARROW_ASSIGN_OR_RAISE(
        offsets_, arrow::AllocateResizableBuffer(
                      (capacity + 1) * static_cast<int64_t>(sizeof(int64_t)), pool_));
    reinterpret_cast<int64_t*>(offsets_->mutable_data())[0] = 0;
    return arrow::Status::OK();
  }

  arrow::Result<int64_t> Append(const CsvRows& rows, int64_t column, int64_t from,
                                int64_t to) override {
    ARROW_RETURN_NOT_OK(Reserve(FieldBytes(rows, column, from, to), to - from));
    auto* offsets = reinterpret_cast<int64_t*>(offsets_->mutable_data()) + size_ + 1;
    char* const begin = reinterpret_cast<char*>(text_->mutable_data());
    char* out = begin + num_bytes_;
    const MissingValues& missing = values_->missing();
    for (int64_t row = from; row < to; ++row, ++offsets) {
      const std::string_view field = rows.Field(row, column);
      // There is room behind both, so that values are copied in whole moves; but not
      // behind the empty fields that short records are filled up with.
      char* end = out + field.size();
      if (values_->IsEscaped(field)) {
        end = CopyUnescaped(field, out);
      } else if (field.size() > kMove) {
        std::memcpy(out, field.data(), field.size());
      } else if (!field.empty()) {
        std::memcpy(out, field.data(), kMove);
      }
      if (missing.Contains({out, static_cast<size_t>(end - out)})) {
        ARROW_RETURN_NOT_OK(validity_.SetMissing(size_ + (row - from), pool_));
      } else {
        out = end;
      }
      *offsets = out - begin;
    }
    size_ += to - from;
    num_bytes_ = out - begin;
    return to;
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    const int64_t offset_bytes = (size_ + 1) * static_cast<int64_t>(sizeof(int64_t));
    GiveBackTail(offsets_.get(), offset_bytes);
    ARROW_RETURN_NOT_OK(offsets_->Resize(offset_bytes));
    if (text_ == nullptr) ARROW_RETURN_NOT_OK(Reserve(0, 0));
    GiveBackTail(text_.get(), num_bytes_);
    ARROW_RETURN_NOT_OK(text_->Resize(num_bytes_));
    rows_before_ += size_;
    bytes_before_ += num_bytes_;
    const int64_t num_missing = validity_.num_missing();
    return arrow::MakeArray(arrow::ArrayData::Make(
        type_, size_, {validity_.Finish(), std::move(offsets_), std::move(text_)},
        num_missing));
  }

 private:
  static constexpr size_t kMove = kUnquotePadding;

  // Write the value of a quoted or escaped field, and return where it ends.
  char* CopyUnescaped(std::string_view field, char* out) {
    if (const auto quote = values_->only_quotes(); quote.has_value()) {
      return CopyUnquoted(field, *quote, out);
    }
    const auto value = values_->Unescape(field, &scratch_);
    std::memcpy(out, value.data(), value.size());
    return out + value.size();
  }

  // How long some fields are, which is at least as long as their values.
  static int64_t FieldBytes(const CsvRows& rows, int64_t column, int64_t from,
                            int64_t to) {
    const uint32_t* const ends = rows.ends() + column;
    const uint32_t* const firsts = rows.firsts();
    int64_t num_bytes = 0;
    for (int64_t row = from; row < to; ++row) {
      const uint32_t* const end = ends + firsts[row];
      num_bytes += *end - (end[-1] + 1);
    }
    return num_bytes;
  }

  // Make room for rows that have so many bytes. Room for all rows, if the others are like
  // those so far: text stays where it is written, and what is too much is given back.
  arrow::Status Reserve(int64_t num_bytes, int64_t num_rows) {
    const int64_t needed = num_bytes_ + num_bytes + static_cast<int64_t>(kMove);
    if (text_ != nullptr && text_->size() >= needed) return arrow::Status::OK();
    const int64_t rows_seen = std::max<int64_t>(rows_before_ + size_ + num_rows, 1);
    const double row_bytes = static_cast<double>(bytes_before_ + num_bytes_ + num_bytes) /
                             static_cast<double>(rows_seen);
    const int64_t rows_left = capacity_ - size_ - num_rows;
    const auto expected = static_cast<int64_t>(
        1.05 * row_bytes * static_cast<double>(std::max<int64_t>(rows_left, 0)));
    const int64_t capacity = PackedBytes(needed + expected);
    if (text_ == nullptr) {
      return arrow::AllocateResizableBuffer(capacity, pool_).Value(&text_);
    }
    return text_->Resize(capacity, /*shrink_to_fit=*/false);
  }

  const std::shared_ptr<arrow::DataType> type_;
  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  std::shared_ptr<arrow::ResizableBuffer> offsets_;
  std::shared_ptr<arrow::ResizableBuffer> text_;
  Validity validity_;
  int64_t capacity_ = 0;
  int64_t size_ = 0;
  int64_t num_bytes_ = 0;
  int64_t rows_before_ = 0;  // of other arrays of the column
  int64_t bytes_before_ = 0;
  std::string scratch_;
};

/// A type that is read as another one and then cast.
class CastColumn final : public CsvColumn {
 public:
  CastColumn(std::unique_ptr<CsvColumn> source, std::shared_ptr<arrow::DataType> type,
             arrow::MemoryPool* pool)
      : source_(std::move(source)), type_(std::move(type)), pool_(pool) {}

  arrow::Status Start(int64_t capacity) override { return source_->Start(capacity); }
  arrow::Result<int64_t> Append(const CsvRows& rows, int64_t column, int64_t from,
                                int64_t to) override {
    return source_->Append(rows, column, from, to);
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    ARROW_ASSIGN_OR_RAISE(const auto values, source_->Finish());
    arrow::compute::ExecContext context(pool_);
    context.set_use_threads(false);
    const bool is_float = type_->id() == arrow::Type::FLOAT;
    return arrow::compute::Cast(*values, type_,
                                is_float ? arrow::compute::CastOptions::Unsafe()
                                         : arrow::compute::CastOptions::Safe(),
                                &context);
  }

 private:
  const std::unique_ptr<CsvColumn> source_;
  const std::shared_ptr<arrow::DataType> type_;
  arrow::MemoryPool* const pool_;
};

/// Integers of any size as JSON, which has neither plus signs nor leading zeros.
class JsonIntegerColumn final : public CsvColumn {
 public:
  JsonIntegerColumn(const CsvValues* values, arrow::MemoryPool* pool)
      : values_(values), pool_(pool) {}

  arrow::Status Start(int64_t capacity) override {
    text_ = std::make_unique<arrow::LargeStringBuilder>(pool_);
    return text_->Reserve(capacity);
  }

  arrow::Result<int64_t> Append(const CsvRows& rows, int64_t column, int64_t from,
                                int64_t to) override {
    for (int64_t row = from; row < to; ++row) {
      std::string_view value = rows.Field(row, column);
      if (values_->IsEscaped(value)) value = values_->Unescape(value, &scratch_);
      uint64_t ignored = 0;
      if (values_->missing().Contains(value)) {
        ARROW_RETURN_NOT_OK(text_->AppendNull());
      } else if (ReadInteger(value, &ignored) != IntegerText::kNotInteger) {
        ARROW_RETURN_NOT_OK(text_->Append(ToJson(value)));
      } else {
        return row;
      }
    }
    return to;
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    return text_->Finish();
  }

 private:
  static std::string ToJson(std::string_view integer) {
    const size_t digit = integer.find_first_of("0123456789");
    const bool is_negative = digit > 0 && integer[digit - 1] == '-';
    integer = integer.substr(digit);
    integer = integer.substr(0, integer.find_last_of("0123456789") + 1);
    const size_t first = integer.find_first_not_of('0');
    if (first == std::string_view::npos) return "0";
    return (is_negative ? "-" : "") + std::string(integer.substr(first));
  }

  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  std::unique_ptr<arrow::LargeStringBuilder> text_;
  std::string scratch_;
};

/// Times that are all written in one way.
class TimeColumn final : public CsvColumn {
 public:
  TimeColumn(const TimeText& times, const CsvValues* values, arrow::MemoryPool* pool)
      : times_(times), values_(values), pool_(pool) {}

  arrow::Status Start(int64_t capacity) override {
    size_ = 0;
    validity_.Start(capacity);
    return arrow::AllocateResizableBuffer(
               capacity * static_cast<int64_t>(sizeof(int64_t)), pool_)
        .Value(&data_);
  }

  arrow::Result<int64_t> Append(const CsvRows& rows, int64_t column, int64_t from,
                                int64_t to) override {
    auto* out = reinterpret_cast<int64_t*>(data_->mutable_data());
    for (int64_t row = from; row < to; ++row, ++size_) {
      std::string_view value = rows.Field(row, column);
      if (values_->IsEscaped(value)) value = values_->Unescape(value, &scratch_);
      if (const auto time = times_.Read(value); time.has_value()) {
        out[size_] = *time;
      } else if (values_->missing().Contains(value) || IsNoTime(value)) {
        out[size_] = 0;
        ARROW_RETURN_NOT_OK(validity_.SetMissing(size_, pool_));
      } else {
        return row;
      }
    }
    return to;
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    const int64_t num_bytes = size_ * static_cast<int64_t>(sizeof(int64_t));
    GiveBackTail(data_.get(), num_bytes);
    ARROW_RETURN_NOT_OK(data_->Resize(num_bytes));
    const int64_t num_missing = validity_.num_missing();
    return arrow::MakeArray(arrow::ArrayData::Make(
        times_.type(), size_, {validity_.Finish(), std::move(data_)}, num_missing));
  }

 private:
  const TimeText times_;
  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  std::shared_ptr<arrow::ResizableBuffer> data_;
  Validity validity_;
  int64_t size_ = 0;
  std::string scratch_;
};

// The type that a type is read as.
std::shared_ptr<arrow::DataType> ReadAs(const arrow::DataType& type) {
  if (type.id() == arrow::Type::FLOAT) return arrow::float64();
  if (arrow::is_signed_integer(type.id())) return arrow::int64();
  if (arrow::is_unsigned_integer(type.id())) return arrow::uint64();
  return arrow::large_utf8();
}

}  // namespace

arrow::Result<std::unique_ptr<CsvColumn>> CsvColumn::Make(
    const std::shared_ptr<arrow::DataType>& type, bool guessed, const CsvValues* values,
    arrow::MemoryPool* pool) {
  switch (type->id()) {
    case arrow::Type::BOOL:
      return std::make_unique<BoolColumn>(values, pool);
    case arrow::Type::INT64:
      return std::make_unique<NumberColumn<Int64Text>>(type, guessed, values, pool);
    case arrow::Type::UINT64:
      return std::make_unique<NumberColumn<UInt64Text>>(type, guessed, values, pool);
    case arrow::Type::DOUBLE:
      return std::make_unique<NumberColumn<Float64Text>>(type, guessed, values, pool);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return std::make_unique<TextColumn>(type, values, pool);
    default:
      break;
  }
  ARROW_ASSIGN_OR_RAISE(auto source, Make(ReadAs(*type), guessed, values, pool));
  return std::make_unique<CastColumn>(std::move(source), type, pool);
}

std::unique_ptr<CsvColumn> CsvColumn::MakeTimes(const TimeText& times,
                                                const CsvValues* values,
                                                arrow::MemoryPool* pool) {
  return std::make_unique<TimeColumn>(times, values, pool);
}

std::unique_ptr<CsvColumn> CsvColumn::MakeJsonIntegers(const CsvValues* values,
                                                       arrow::MemoryPool* pool) {
  return std::make_unique<JsonIntegerColumn>(values, pool);
}

}  // namespace xshards::io
