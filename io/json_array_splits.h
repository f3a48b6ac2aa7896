// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "io/file_listing.h"
#include "xshards/plan.h"

namespace xshards::io {

/// Cut a file that is one JSON array of objects into pieces of about `target_bytes`: the
/// first starts with the file, others at an object. Reads the whole file where it is
/// larger than that, since only what comes before tells what a brace belongs to.
arrow::Result<std::vector<Split>> PlanArraySplits(const InputFile& file,
                                                  int64_t target_bytes,
                                                  arrow::MemoryPool* pool);

}  // namespace xshards::io
