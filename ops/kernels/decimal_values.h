// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/util/decimal.h>

namespace xshards::ops {

/// The double nearest to a decimal, as Python's float() gives it. (Arrow's own cast
/// multiplies by a power of ten, which turns 0.3 into 0.30000000000000004.)
arrow::Result<double> ToDouble(const arrow::Decimal128& value, int32_t scale);

/// Decimal128 values as doubles; nulls stay.
arrow::Result<std::shared_ptr<arrow::Array>> DecimalsToDoubles(
    const std::shared_ptr<arrow::Array>& values, arrow::MemoryPool* pool);

}  // namespace xshards::ops
