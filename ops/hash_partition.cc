// SPDX-License-Identifier: Apache-2.0
#include "ops/hash_partition.h"

#include "ops/hash.h"
#include "ops/key_columns.h"

namespace xshards::ops {

arrow::Result<std::vector<int32_t>> HashDestinations(const arrow::RecordBatch& batch,
                                                     const std::vector<std::string>& keys,
                                                     int32_t num_partitions,
                                                     arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto positions, FindColumns(*batch.schema(), keys));
  arrow::ArrayVector columns;
  for (int position : positions) columns.push_back(batch.column(position));
  ARROW_ASSIGN_OR_RAISE(auto hashes, HashRows(columns, batch.num_rows(), pool));
  std::vector<int32_t> destinations(hashes.size());
  for (size_t i = 0; i < hashes.size(); ++i) {
    // hash / 2^64 * num_partitions: even, and without a division.
    const auto scaled =
        static_cast<unsigned __int128>(hashes[i]) * static_cast<uint64_t>(num_partitions);
    destinations[i] = static_cast<int32_t>(scaled >> 64);
  }
  return destinations;
}

}  // namespace xshards::ops
