// SPDX-License-Identifier: Apache-2.0
#include "ops/exchange/hash_partition.h"

#include <algorithm>

#include "ops/keys/hash.h"
#include "ops/keys/key_columns.h"
#include "xshards/plan/output_schema.h"

namespace xshards::ops {

namespace {

// The hashes of this many rows are still in a core's cache when they are read.
constexpr int64_t kRowsAtOnce = 1 << 13;

bool HasDictionary(const arrow::ArrayVector& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const auto& column) {
    return column->type_id() == arrow::Type::DICTIONARY;
  });
}

}  // namespace

arrow::Status FindHashDestinations(const arrow::RecordBatch& batch,
                                   const std::vector<std::string>& keys,
                                   int32_t num_partitions, int32_t* destinations,
                                   arrow::MemoryPool* pool) {
  // The types of a function's output are known only now.
  for (const auto& key : keys) {
    ARROW_RETURN_NOT_OK(KeyField(key, *batch.schema()).status());
  }
  ARROW_ASSIGN_OR_RAISE(auto positions, FindColumns(*batch.schema(), keys));
  arrow::ArrayVector columns;
  for (int position : positions) columns.push_back(batch.column(position));
  // The values of a dictionary are hashed each time.
  const int64_t step = HasDictionary(columns) ? batch.num_rows() : kRowsAtOnce;
  for (int64_t begin = 0; begin < batch.num_rows(); begin += step) {
    const int64_t count = std::min(step, batch.num_rows() - begin);
    arrow::ArrayVector slices;
    for (const auto& column : columns) slices.push_back(column->Slice(begin, count));
    ARROW_ASSIGN_OR_RAISE(auto hashes, HashRows(slices, count, pool));
    for (size_t i = 0; i < hashes.size(); ++i) {
      // hash / 2^64 * num_partitions: even, and without a division.
      const auto scaled = static_cast<unsigned __int128>(hashes[i]) *
                          static_cast<uint64_t>(num_partitions);
      destinations[begin + static_cast<int64_t>(i)] = static_cast<int32_t>(scaled >> 64);
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<int32_t>> HashDestinations(const arrow::RecordBatch& batch,
                                                     const std::vector<std::string>& keys,
                                                     int32_t num_partitions,
                                                     arrow::MemoryPool* pool) {
  std::vector<int32_t> destinations(static_cast<size_t>(batch.num_rows()));
  ARROW_RETURN_NOT_OK(
      FindHashDestinations(batch, keys, num_partitions, destinations.data(), pool));
  return destinations;
}

}  // namespace xshards::ops
