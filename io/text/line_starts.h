// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

namespace xshards::io {

/// The starts of lines at or after targets, found by reading only around the targets; for
/// text in which a line feed always ends a record.
arrow::Result<std::vector<int64_t>> FindLineStarts(arrow::io::RandomAccessFile& file,
                                                   int64_t end,
                                                   const std::vector<int64_t>& targets,
                                                   arrow::MemoryPool* pool);

}  // namespace xshards::io
