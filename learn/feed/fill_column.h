// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "learn/feed/tensor_type.h"

namespace xshards::learn {

/// Casts rows [begin, begin + length) of a column and writes them to every `stride`-th
/// element of `out`.
using FillColumn = void (*)(const arrow::Array& column, int64_t begin, int64_t length,
                            void* out, int64_t stride);

/// The loop for the column's type and the tensor's type. Missing values are written as
/// NaN; the caller makes sure that integer tensors get none.
arrow::Result<FillColumn> FillColumnFor(const arrow::DataType& column, TensorType tensor);

}  // namespace xshards::learn
