// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/type.h>

namespace xshards::ops {

// Defines when two keys are equal. Every key value is one of: missing (null or NaN), a
// tagged 64-bit word, or bytes; keys are equal exactly if these are. So integers of any
// width equal each other and a float of the same value, -0.0 equals 0.0, and an instant
// equals itself in any unit. Tags and words are part of the stable hash: never renumber.

enum class KeyTag : uint8_t {
  kMissing = 0,
  kInteger = 1,      // two's complement
  kBigUnsigned = 2,  // above the int64 range
  kReal = 3,         // a double that is not an integer, by its bits
  kNanoseconds = 4,  // time in the finest unit that holds it
  kMicroseconds = 5,
  kMilliseconds = 6,
  kSeconds = 7,
  kBytes = 8,
};

struct KeyWord {
  KeyTag tag;
  uint64_t word;
};

template <typename T>
KeyWord IntegerKey(T value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return {KeyTag::kBigUnsigned, value};
    }
  }
  return {KeyTag::kInteger, static_cast<uint64_t>(static_cast<int64_t>(value))};
}

/// Not for NaN, which is missing.
inline KeyWord RealKey(double value) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (value >= -kTwoTo63 && value < kTwoTo63) {
    const auto integer = static_cast<int64_t>(value);
    if (static_cast<double>(integer) == value) return IntegerKey(integer);
  } else if (value >= kTwoTo63 && value < 2 * kTwoTo63) {
    return IntegerKey(static_cast<uint64_t>(value));
  }
  return {KeyTag::kReal, std::bit_cast<uint64_t>(value)};
}

inline KeyWord TimeKey(int64_t value, arrow::TimeUnit::type unit) {
  auto tag = static_cast<uint8_t>(static_cast<uint8_t>(KeyTag::kSeconds) -
                                  static_cast<uint8_t>(unit));
  int64_t finer;
  while (tag > static_cast<uint8_t>(KeyTag::kNanoseconds) &&
         !__builtin_mul_overflow(value, int64_t{1000}, &finer)) {
    value = finer;
    --tag;
  }
  return {static_cast<KeyTag>(tag), static_cast<uint64_t>(value)};
}

namespace internal {

template <typename ArrayType, typename OnMissing, typename OnValue>
void ForEachRow(const ArrayType& array, OnMissing&& on_missing, OnValue&& on_value) {
  if (array.null_count() == 0) {
    for (int64_t i = 0; i < array.length(); ++i) on_value(i);
    return;
  }
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) {
      on_missing(i);
    } else {
      on_value(i);
    }
  }
}

template <typename ArrayType, typename OnMissing, typename OnWord, typename ToKey>
void ForEachWord(const arrow::Array& untyped, OnMissing&& on_missing, OnWord&& on_word,
                 ToKey&& to_key) {
  const auto& array = static_cast<const ArrayType&>(untyped);
  ForEachRow(array, on_missing, [&](int64_t i) { on_word(i, to_key(array.Value(i))); });
}

template <typename ArrayType, typename OnMissing, typename OnWord>
void ForEachInteger(const arrow::Array& array, OnMissing&& on_missing, OnWord&& on_word) {
  ForEachWord<ArrayType>(array, on_missing, on_word,
                         [](auto value) { return IntegerKey(value); });
}

template <typename ArrayType, typename OnMissing, typename OnWord>
void ForEachReal(const arrow::Array& untyped, OnMissing&& on_missing, OnWord&& on_word) {
  const auto& array = static_cast<const ArrayType&>(untyped);
  ForEachRow(array, on_missing, [&](int64_t i) {
    const auto value = static_cast<double>(array.Value(i));
    if (std::isnan(value)) {
      on_missing(i);
    } else {
      on_word(i, RealKey(value));
    }
  });
}

template <typename ArrayType, typename OnMissing, typename OnWord>
void ForEachTime(const arrow::Array& array, arrow::TimeUnit::type unit, int64_t scale,
                 OnMissing&& on_missing, OnWord&& on_word) {
  ForEachWord<ArrayType>(array, on_missing, on_word, [unit, scale](int64_t value) {
    return TimeKey(value * scale, unit);
  });
}

template <typename ArrayType, typename OnMissing, typename OnBytes>
void ForEachBytes(const arrow::Array& untyped, OnMissing&& on_missing,
                  OnBytes&& on_bytes) {
  const auto& array = static_cast<const ArrayType&>(untyped);
  ForEachRow(array, on_missing, [&](int64_t i) { on_bytes(i, array.GetView(i)); });
}

}  // namespace internal

/// True for the types that VisitKeyValues reads; KeyColumn() converts others to these.
bool IsPlainKey(const arrow::DataType& type);
/// True if the values of a plain key type are bytes rather than words.
bool IsBytesKey(const arrow::DataType& type);

/// Call on_missing(row), on_word(row, KeyWord) or on_bytes(row, string_view) for every
/// row, in order. The array's type must satisfy IsPlainKey.
template <typename OnMissing, typename OnWord, typename OnBytes>
void VisitKeyValues(const arrow::Array& array, OnMissing&& on_missing, OnWord&& on_word,
                    OnBytes&& on_bytes) {
  using arrow::Type;
  using namespace internal;  // NOLINT(google-build-using-namespace)
  const arrow::DataType& type = *array.type();
  constexpr int64_t kSecondsPerDay = 86400;
  switch (type.id()) {
    case Type::BOOL:
      return ForEachInteger<arrow::BooleanArray>(array, on_missing, on_word);
    case Type::INT8:
      return ForEachInteger<arrow::Int8Array>(array, on_missing, on_word);
    case Type::INT16:
      return ForEachInteger<arrow::Int16Array>(array, on_missing, on_word);
    case Type::INT32:
      return ForEachInteger<arrow::Int32Array>(array, on_missing, on_word);
    case Type::INT64:
      return ForEachInteger<arrow::Int64Array>(array, on_missing, on_word);
    case Type::UINT8:
      return ForEachInteger<arrow::UInt8Array>(array, on_missing, on_word);
    case Type::UINT16:
      return ForEachInteger<arrow::UInt16Array>(array, on_missing, on_word);
    case Type::UINT32:
      return ForEachInteger<arrow::UInt32Array>(array, on_missing, on_word);
    case Type::UINT64:
      return ForEachInteger<arrow::UInt64Array>(array, on_missing, on_word);
    case Type::FLOAT:
      return ForEachReal<arrow::FloatArray>(array, on_missing, on_word);
    case Type::DOUBLE:
      return ForEachReal<arrow::DoubleArray>(array, on_missing, on_word);
    case Type::DATE32:
      return ForEachTime<arrow::Date32Array>(array, arrow::TimeUnit::SECOND,
                                             kSecondsPerDay, on_missing, on_word);
    case Type::DATE64:
      return ForEachTime<arrow::Date64Array>(array, arrow::TimeUnit::MILLI, 1, on_missing,
                                             on_word);
    case Type::TIMESTAMP:
      return ForEachTime<arrow::TimestampArray>(
          array, static_cast<const arrow::TimestampType&>(type).unit(), 1, on_missing,
          on_word);
    case Type::DURATION:
      return ForEachTime<arrow::DurationArray>(
          array, static_cast<const arrow::DurationType&>(type).unit(), 1, on_missing,
          on_word);
    case Type::TIME32:
      return ForEachTime<arrow::Time32Array>(
          array, static_cast<const arrow::Time32Type&>(type).unit(), 1, on_missing,
          on_word);
    case Type::TIME64:
      return ForEachTime<arrow::Time64Array>(
          array, static_cast<const arrow::Time64Type&>(type).unit(), 1, on_missing,
          on_word);
    case Type::STRING:
    case Type::BINARY:
      return ForEachBytes<arrow::BinaryArray>(array, on_missing, on_bytes);
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return ForEachBytes<arrow::LargeBinaryArray>(array, on_missing, on_bytes);
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW:
      return ForEachBytes<arrow::BinaryViewArray>(array, on_missing, on_bytes);
    case Type::FIXED_SIZE_BINARY:
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128:
    case Type::DECIMAL256:
      return ForEachBytes<arrow::FixedSizeBinaryArray>(array, on_missing, on_bytes);
    default:  // only NA remains
      for (int64_t i = 0; i < array.length(); ++i) on_missing(i);
  }
}

}  // namespace xshards::ops
