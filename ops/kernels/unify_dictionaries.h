// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/status.h>

namespace xshards::ops {

/// Give dictionary arrays of one type the same dictionary, the union of theirs; other
/// arrays, and arrays that already share a dictionary, are unchanged.
arrow::Status ShareDictionary(arrow::ArrayDataVector* arrays, arrow::MemoryPool* pool);

}  // namespace xshards::ops
