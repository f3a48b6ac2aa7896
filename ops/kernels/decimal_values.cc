// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/decimal_values.h"

#include <charconv>
#include <iterator>
#include <string>
#include <system_error>

#include <arrow/builder.h>

namespace xshards::ops {

namespace {

// Integers up to this, and powers of ten up to 1e22, are exact as doubles.
constexpr int64_t kLastExact = int64_t{1} << 53;
constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int32_t kNumPowers = std::size(kPowersOfTen);

}  // namespace

arrow::Result<double> ToDouble(const arrow::Decimal128& value, int32_t scale) {
  const auto low = static_cast<int64_t>(value.low_bits());
  const bool is_small =
      value.high_bits() == (low < 0 ? -1 : 0) && low <= kLastExact && low >= -kLastExact;
  if (is_small && scale >= 0 && scale < kNumPowers) {
    return static_cast<double>(low) / kPowersOfTen[scale];
  }
  const std::string digits = value.ToString(scale);
  double number = 0;
  const auto end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) {
    return arrow::Status::Invalid("Expected a decimal in the range of float64, got ",
                                  digits);
  }
  return number;
}

arrow::Result<std::shared_ptr<arrow::Array>> DecimalsToDoubles(
    const std::shared_ptr<arrow::Array>& values, arrow::MemoryPool* pool) {
  const auto& decimals = static_cast<const arrow::Decimal128Array&>(*values);
  const int32_t scale =
      static_cast<const arrow::Decimal128Type&>(*values->type()).scale();
  arrow::DoubleBuilder builder(pool);
  ARROW_RETURN_NOT_OK(builder.Reserve(values->length()));
  for (int64_t i = 0; i < values->length(); ++i) {
    if (decimals.IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const double number,
                          ToDouble(arrow::Decimal128(decimals.GetValue(i)), scale));
    builder.UnsafeAppend(number);
  }
  return builder.Finish();
}

}  // namespace xshards::ops
