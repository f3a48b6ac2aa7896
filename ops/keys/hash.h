// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>

namespace xshards::ops {

/// Hash bytes; the same on every host and in every version.
uint64_t HashBytes(const void* data, size_t size);

/// Hash the rows of key columns of any type. Keys that are equal (see key_values.h) hash
/// equal, whatever the widths, units or encodings of their columns; the same on every
/// host and in every version. Columns are combined in the given order.
arrow::Result<std::vector<uint64_t>> HashRows(const arrow::ArrayVector& columns,
                                              int64_t num_rows, arrow::MemoryPool* pool);

}  // namespace xshards::ops
