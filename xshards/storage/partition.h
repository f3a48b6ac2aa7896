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
/// A published partition is one complete store; partition j after an exchange has the
/// blocks for j of every producer's store. A cheap handle: copies share the stores.
/// Immutable.
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

  /// The concatenated blocks of partitions; nothing is copied.
  static Partition Joined(const std::vector<Partition>& partitions);

  /// Wrap a payload in memory. An empty Table keeps its schema.
  static Partition FromPayload(const Payload& payload);

  const std::vector<BlockPlace>& blocks() const { return blocks_; }
  int32_t destination() const { return destination_; }
  int64_t num_rows() const;
  int64_t num_bytes() const;
  /// The number of shards that Load() returns: one for a Table, one for each Tensors or
  /// Object.
  int64_t num_shards() const;
  /// The slowest storage of any of its blocks: kFile over kShared over kHeap.
  Storage storage() const;

  /// The schema of its first block, or nullptr if it has none.
  arrow::Result<std::shared_ptr<arrow::Schema>> schema() const;

  /// Stream its batches. Table blocks are cast to `schema` if they differ from it; with
  /// nullptr they are returned as stored.
  arrow::Result<std::unique_ptr<BatchStream>> Open(std::shared_ptr<arrow::Schema> schema,
                                                   arrow::MemoryPool* pool) const;
  /// Read all of it: Table batches combined to one payload, others unchanged, in order.
  arrow::Result<std::vector<Payload>> Load() const;

 private:
  std::vector<BlockPlace> blocks_;  // grouped by store
  int32_t destination_ = 0;
};

/// The payload kinds of partitions, each once, in the order of PayloadKind.
XSHARDS_EXPORT std::set<PayloadKind> KindsOf(const std::vector<Partition>& partitions);

/// Widen the schemas of partitions to one that holds all of them (int + float → float,
/// null + anything → anything). nullptr if no partition has a Table block.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Schema>> UnifySchemas(
    const std::vector<Partition>& partitions);

}  // namespace xshards
