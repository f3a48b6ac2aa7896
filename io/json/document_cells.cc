// SPDX-License-Identifier: Apache-2.0
#include "io/json/document_cells.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/util/bit_util.h>

#include "io/json/structure.h"
#include "xshards/types/json_text_field.h"

namespace xshards::io {
namespace {

constexpr int kLengthBits = 32;

uint32_t BitOf(JsonCell::Kind kind) { return 1U << static_cast<uint8_t>(kind); }

bool IsMissing(JsonCell::Kind kind) {
  return kind == JsonCell::Kind::kAbsent || kind == JsonCell::Kind::kNull;
}

// A double as JSON text that is read as a double again.
std::string RealText(double value) {
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::array<char, 32> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  std::string text(digits.data(), written.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

JsonCell JsonCell::OfNumber(const JsonNumberValue& number) {
  const auto bits = static_cast<uint64_t>(number.integer);
  switch (number.kind) {
    case JsonNumber::kInt64:
      return {.kind = number.integer < 0 ? Kind::kNegative : Kind::kInteger,
              .bits = bits};
    case JsonNumber::kUInt64:
      return {.kind = Kind::kLarge, .bits = bits};
    default:
      if (std::isnan(number.real)) return {.kind = Kind::kNull};
      return {.kind = Kind::kReal, .bits = std::bit_cast<uint64_t>(number.real)};
  }
}

JsonCell JsonCell::OfPart(Kind kind, const char* text, std::string_view part) {
  const auto begin = static_cast<uint64_t>(part.data() - text);
  return {.kind = kind, .bits = begin << kLengthBits | part.size()};
}

arrow::Status JsonCells::Set(int64_t row, const JsonCell& cell) {
  if (row == size()) {
    ARROW_RETURN_NOT_OK(kinds_.Append(cell.kind));
    return bits_.Append(cell.bits);
  }
  ARROW_RETURN_NOT_OK(PadTo(row + 1));
  kinds_.mutable_data()[row] = cell.kind;
  bits_.mutable_data()[row] = cell.bits;
  return arrow::Status::OK();
}

arrow::Status JsonCells::PadTo(int64_t num_rows) {
  const int64_t missing = num_rows - size();
  if (missing <= 0) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(kinds_.Append(missing, missing_));
  return bits_.Append(missing, 0);
}

std::string_view JsonCells::Part(int64_t row, const char* text) const {
  const uint64_t bits = bits_.data()[row];
  return {text + (bits >> kLengthBits), static_cast<uint32_t>(bits)};
}

std::shared_ptr<arrow::Field> JsonCells::InferField(const std::string& name) const {
  uint32_t seen = 0;
  for (int64_t row = 0; row < size(); ++row) {
    seen |= BitOf(kinds_.data()[row]);
  }
  const auto has = [&](Kind kind) {
    return (seen >> static_cast<uint8_t>(kind) & 1) != 0;
  };
  // An absent boolean is not what a null one is to pandas, nor is a column of these.
  const uint32_t missing = BitOf(Kind::kAbsent) | BitOf(Kind::kNull);
  const bool has_absent_bool = has(Kind::kAbsent) && has(Kind::kBool);
  if (has(Kind::kNested) || has_absent_bool || (seen & ~missing) == 0) {
    return JsonTextField(name);
  }
  JsonShape shape = JsonShape::OfRecords();
  JsonShape& values = *shape.MemberFor(name);
  if (has(Kind::kBool)) values.AddBool();
  if (has(Kind::kText) || has(Kind::kEscaped)) values.AddText();
  if (has(Kind::kInteger)) values.AddNumber({});
  if (has(Kind::kNegative)) values.AddNumber({.integer = -1});
  if (has(Kind::kLarge)) values.AddNumber({.kind = JsonNumber::kUInt64});
  if (has(Kind::kHuge)) values.AddNumber({.kind = JsonNumber::kHuge});
  if (has(Kind::kReal)) values.AddNumber({.kind = JsonNumber::kDouble});
  return shape.ToFields().front();
}

arrow::Result<JsonCells::Column> JsonCells::Finish(const std::string& name,
                                                   const char* text,
                                                   JsonOnDemand* on_demand) {
  Column column{.field = InferField(name)};
  const auto& type = column.field->type();
  arrow::Result<std::shared_ptr<arrow::Array>> values;
  if (IsJsonText(*column.field)) {
    values = JsonTexts(text);
  } else if (type->id() == arrow::Type::BOOL) {
    values = Bools();
  } else if (type->id() == arrow::Type::LARGE_STRING) {
    values = Texts(text, on_demand);
  } else {
    values = type->id() == arrow::Type::DOUBLE ? Doubles() : Integers(type);
  }
  ARROW_ASSIGN_OR_RAISE(column.values, std::move(values));
  return column;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> JsonCells::Validity(
    int64_t* null_count) const {
  *null_count = 0;
  for (int64_t row = 0; row < size(); ++row) {
    *null_count += IsMissing(kinds_.data()[row]) ? 1 : 0;
  }
  if (*null_count == 0) return nullptr;
  ARROW_ASSIGN_OR_RAISE(auto bitmap, arrow::AllocateEmptyBitmap(size(), pool_));
  for (int64_t row = 0; row < size(); ++row) {
    if (!IsMissing(kinds_.data()[row])) {
      arrow::bit_util::SetBit(bitmap->mutable_data(), row);
    }
  }
  return bitmap;
}

arrow::Result<std::shared_ptr<arrow::Array>> JsonCells::Integers(
    const std::shared_ptr<arrow::DataType>& type) {
  const int64_t num_rows = size();
  int64_t null_count = 0;
  ARROW_ASSIGN_OR_RAISE(auto validity, Validity(&null_count));
  ARROW_ASSIGN_OR_RAISE(auto values, bits_.Finish());
  return arrow::MakeArray(arrow::ArrayData::Make(
      type, num_rows, {std::move(validity), std::move(values)}, null_count));
}

arrow::Result<std::shared_ptr<arrow::Array>> JsonCells::Doubles() {
  for (int64_t row = 0; row < size(); ++row) {
    uint64_t& bits = bits_.mutable_data()[row];
    if (Is(row, Kind::kInteger) || Is(row, Kind::kNegative)) {
      bits = std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(bits)));
    } else if (Is(row, Kind::kLarge)) {
      bits = std::bit_cast<uint64_t>(static_cast<double>(bits));
    }
  }
  return Integers(arrow::float64());
}

arrow::Result<std::shared_ptr<arrow::Array>> JsonCells::Bools() const {
  arrow::BooleanBuilder builder(pool_);
  ARROW_RETURN_NOT_OK(builder.Reserve(size()));
  for (int64_t row = 0; row < size(); ++row) {
    if (Is(row, Kind::kBool)) {
      builder.UnsafeAppend(bits_.data()[row] != 0);
    } else {
      builder.UnsafeAppendNull();
    }
  }
  return builder.Finish();
}

arrow::Result<std::shared_ptr<arrow::Array>> JsonCells::Texts(
    const char* text, JsonOnDemand* on_demand) const {
  arrow::LargeStringBuilder builder(pool_);
  ARROW_RETURN_NOT_OK(builder.Reserve(size()));
  std::string unescaped;
  for (int64_t row = 0; row < size(); ++row) {
    if (IsMissing(kinds_.data()[row])) {
      builder.UnsafeAppendNull();
      continue;
    }
    std::string_view part = Part(row, text);
    if (Is(row, Kind::kEscaped)) {
      unescaped.resize(part.size() + static_cast<size_t>(kJsonPadding));
      const char* const end = on_demand->Unescape(part.data(), unescaped.data());
      if (end == nullptr) return arrow::Status::Invalid("Expected ", kJsonEscapes);
      part = {unescaped.data(), static_cast<size_t>(end - unescaped.data())};
    }
    ARROW_RETURN_NOT_OK(builder.Append(part));
  }
  return builder.Finish();
}

arrow::Result<std::shared_ptr<arrow::Array>> JsonCells::JsonTexts(
    const char* text) const {
  arrow::LargeStringBuilder builder(pool_);
  ARROW_RETURN_NOT_OK(builder.Reserve(size()));
  for (int64_t row = 0; row < size(); ++row) {
    const uint64_t bits = bits_.data()[row];
    switch (kinds_.data()[row]) {
      case Kind::kAbsent:
        builder.UnsafeAppendNull();
        break;
      case Kind::kNull:
        ARROW_RETURN_NOT_OK(builder.Append("null"));
        break;
      case Kind::kBool:
        ARROW_RETURN_NOT_OK(builder.Append(bits != 0 ? "true" : "false"));
        break;
      case Kind::kInteger:
      case Kind::kNegative:
        ARROW_RETURN_NOT_OK(builder.Append(std::to_string(static_cast<int64_t>(bits))));
        break;
      case Kind::kLarge:
        ARROW_RETURN_NOT_OK(builder.Append(std::to_string(bits)));
        break;
      case Kind::kReal:
        ARROW_RETURN_NOT_OK(builder.Append(RealText(std::bit_cast<double>(bits))));
        break;
      case Kind::kHuge:
      case Kind::kNested:
        ARROW_RETURN_NOT_OK(builder.Append(Part(row, text)));
        break;
      case Kind::kText:
      case Kind::kEscaped: {
        const std::string_view inside = Part(row, text);
        ARROW_RETURN_NOT_OK(builder.Append({inside.data() - 1, inside.size() + 2}));
        break;
      }
    }
  }
  return builder.Finish();
}

}  // namespace xshards::io
