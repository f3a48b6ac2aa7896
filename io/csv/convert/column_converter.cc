// SPDX-License-Identifier: Apache-2.0
#include "io/csv/convert/column_converter.h"

#include <string>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/buffer.h>
#include <arrow/compute/cast.h>
#include <arrow/util/bit_util.h>

#include "io/csv/convert/number_converter.h"
#include "io/csv/convert/text_converter.h"
#include "io/csv/convert/validity_builder.h"
#include "io/csv/parse/number_parser.h"

namespace xshards::io {
namespace {

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
    std::string json(is_negative ? "-" : "");
    json += integer.substr(first);
    return json;
  }

  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  std::unique_ptr<arrow::LargeStringBuilder> text_;
  std::string scratch_;
};

/// Times that are all in one format.
class TimeColumn final : public CsvColumn {
 public:
  TimeColumn(std::shared_ptr<arrow::DataType> type, TimeFormat times,
             const CsvValues* values, arrow::MemoryPool* pool)
      : type_(std::move(type)),
        unit_(static_cast<const arrow::TimestampType&>(*type_).unit()),
        times_(std::move(times)),
        values_(values),
        pool_(pool) {}

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
      // First, since a time may be among the missing values.
      if (values_->missing().Contains(value) || IsNoTime(value)) {
        out[size_] = 0;
        ARROW_RETURN_NOT_OK(validity_.SetMissing(size_, pool_));
      } else if (const auto time = Read(value); time.has_value()) {
        out[size_] = *time;
      } else {
        return row;
      }
    }
    return to;
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    return FinishArray(type_, size_, &validity_, std::move(data_));
  }

 private:
  std::optional<int64_t> Read(std::string_view text) const {
    const auto time = times_.Read(text);
    return time.has_value() ? InUnit(*time, unit_) : std::nullopt;
  }

  const std::shared_ptr<arrow::DataType> type_;
  const arrow::TimeUnit::type unit_;
  const TimeFormat times_;
  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  std::shared_ptr<arrow::ResizableBuffer> data_;
  Validity validity_;
  int64_t size_ = 0;
  std::string scratch_;
};

// The type as which a type is read before it is cast.
std::shared_ptr<arrow::DataType> ReadAs(const arrow::DataType& type) {
  if (type.id() == arrow::Type::FLOAT) return arrow::float64();
  if (arrow::is_signed_integer(type.id())) return arrow::int64();
  if (arrow::is_unsigned_integer(type.id())) return arrow::uint64();
  return arrow::large_utf8();
}

}  // namespace

arrow::Result<std::unique_ptr<CsvColumn>> CsvColumn::Make(
    const std::shared_ptr<arrow::DataType>& type, bool inferred, const CsvValues* values,
    arrow::MemoryPool* pool) {
  switch (type->id()) {
    case arrow::Type::BOOL:
      return std::make_unique<BoolColumn>(values, pool);
    case arrow::Type::INT64:
    case arrow::Type::UINT64:
    case arrow::Type::DOUBLE:
      return MakeNumberColumn(type, inferred, values, pool);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return MakeTextColumn(type, values, pool);
    default:
      break;
  }
  ARROW_ASSIGN_OR_RAISE(auto source, Make(ReadAs(*type), inferred, values, pool));
  return std::make_unique<CastColumn>(std::move(source), type, pool);
}

std::unique_ptr<CsvColumn> CsvColumn::MakeTimes(
    const std::shared_ptr<arrow::DataType>& type, const TimeFormat& times,
    const CsvValues* values, arrow::MemoryPool* pool) {
  return std::make_unique<TimeColumn>(type, times, values, pool);
}

std::unique_ptr<CsvColumn> CsvColumn::MakeJsonIntegers(const CsvValues* values,
                                                       arrow::MemoryPool* pool) {
  return std::make_unique<JsonIntegerColumn>(values, pool);
}

}  // namespace xshards::io
