// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

namespace xshards::ops {

/// The partition of each row, 0 .. num_partitions - 1, by the hash of its keys. Stable
/// across hosts and versions (see HashRows). KeyError names a missing key.
arrow::Result<std::vector<int32_t>> HashDestinations(const arrow::RecordBatch& batch,
                                                     const std::vector<std::string>& keys,
                                                     int32_t num_partitions,
                                                     arrow::MemoryPool* pool);

/// The same, written to `destinations`, one per row.
arrow::Status FindHashDestinations(const arrow::RecordBatch& batch,
                                   const std::vector<std::string>& keys,
                                   int32_t num_partitions, int32_t* destinations,
                                   arrow::MemoryPool* pool);

}  // namespace xshards::ops
