// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "xshards/export.h"
#include "xshards/storage/block_store.h"
#include "xshards/storage/payload.h"

namespace xshards {

/// One partition's data: the blocks for one destination of one or more stores, in order.
///
/// A published partition is all of one store; partition j after an exchange is the slice
/// for j of every producer's store. A cheap handle: copies share the stores. Immutable.
class XSHARDS_EXPORT Partition {
 public:
  using Stores = std::vector<std::shared_ptr<BlockStore>>;
  /// A block of a store that is finished.
  struct BlockPlace {
    std::shared_ptr<BlockStore> store;
    size_t index = 0;
  };

  Partition() = default;
  Partition(const Stores& stores, int32_t destination);
  /// The partitions for destinations 0..n-1, in one pass over the blocks.
  static std::vector<Partition> ForAll(const Stores& stores, int32_t num_destinations);

  /// The blocks of partitions, one after the other; nothing is copied.
  static Partition Joined(const std::vector<Partition>& partitions);

  /// Wrap a payload in memory. An empty Table keeps its schema.
  static Partition FromPayload(const Payload& payload);

  const std::vector<BlockPlace>& blocks() const { return blocks_; }
  int32_t destination() const { return destination_; }
  int64_t num_rows() const;
  int64_t num_bytes() const;
  /// How many shards Load() gives: a Table counts once, every Tensors or Object counts.
  int64_t num_shards() const;
  /// The "furthest" place any of its blocks is in: kFile over kShared over kHeap.
  Storage storage() const;

  /// The schema of its first block, or nullptr if it has none.
  arrow::Result<std::shared_ptr<arrow::Schema>> schema() const;

  /// Stream its batches. Table blocks are cast to `schema` where they differ from it;
  /// with nullptr they come as stored.
  arrow::Result<std::unique_ptr<BatchStream>> Open(std::shared_ptr<arrow::Schema> schema,
                                                   arrow::MemoryPool* pool) const;
  /// Read it whole: Table batches joined to one payload, others as they are, in order.
  arrow::Result<std::vector<Payload>> Load() const;

 private:
  std::vector<BlockPlace> blocks_;  // those of a store are neighbours
  int32_t destination_ = 0;
};

/// The kinds of what partitions hold, each once, in the order of PayloadKind.
XSHARDS_EXPORT std::set<PayloadKind> KindsOf(const std::vector<Partition>& partitions);

/// Widen the schemas of partitions to one that holds all of them (int + float → float,
/// null + anything → anything). nullptr if no partition has a Table block.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Schema>> UnifySchemas(
    const std::vector<Partition>& partitions);

}  // namespace xshards
