// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/partition.h"

#include <algorithm>
#include <utility>

#include "xshards/storage/batch_stream.h"
#include "xshards/types/conform.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards {

namespace {

// In little memory an exchange spills blocks of a few rows. The overhead per batch costs
// more than reading this many bytes.
constexpr int64_t kSmallBytes = 32 << 10;
constexpr int64_t kJoinedBytes = 4 * kSmallBytes;

/// Reads the blocks of one partition one at a time, so that at most one block of a
/// spilled partition is in memory; small ones on disk are read together.
class PartitionStream final : public BatchStream {
 public:
  PartitionStream(std::vector<Partition::BlockPlace> blocks,
                  std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool)
      : blocks_(std::move(blocks)), schema_(std::move(schema)), pool_(pool) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (next_ == blocks_.size()) return nullptr;
    const size_t end = EndOfPieces();
    if (end - next_ < 2) return Read(next_++);
    arrow::RecordBatchVector pieces;
    for (; next_ < end; ++next_) {
      ARROW_ASSIGN_OR_RAISE(auto piece, Read(next_));
      pieces.push_back(std::move(piece));
    }
    return arrow::ConcatenateRecordBatches(pieces, pool_);
  }

 private:
  /// One past the last of the blocks from next_ on that are read together.
  size_t EndOfPieces() const {
    size_t end = next_;
    std::shared_ptr<arrow::Schema> schema;
    for (int64_t bytes = 0; end < blocks_.size() && bytes < kJoinedBytes; ++end) {
      const auto block = blocks_[end].store->block(blocks_[end].index);
      if (!block.on_disk() || block.num_bytes >= kSmallBytes ||
          KindOf(*block.schema) != PayloadKind::kTable) {
        break;
      }
      // Without a common schema, each block has its own.
      const bool fits = schema_ != nullptr || schema == nullptr ||
                        block.schema->Equals(*schema, /*check_metadata=*/true);
      if (!fits) break;
      schema = block.schema;
      bytes += block.num_bytes;
    }
    return end;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Read(size_t position) const {
    const auto& [store, index] = blocks_[position];
    ARROW_ASSIGN_OR_RAISE(auto batch, store->ReadBlock(index));
    if (schema_ == nullptr || KindOf(*batch->schema()) != PayloadKind::kTable) {
      return batch;
    }
    return Conform(std::move(batch), schema_, pool_);
  }

  const std::vector<Partition::BlockPlace> blocks_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::MemoryPool* pool_;
  size_t next_ = 0;
};

}  // namespace

Partition::Partition(const Stores& stores, int32_t destination)
    : destination_(destination) {
  for (const auto& store : stores) {
    for (size_t i = 0, count = store->num_blocks(); i < count; ++i) {
      if (store->block(i).destination == destination) blocks_.push_back({store, i});
    }
  }
}

std::vector<Partition> Partition::ForAll(const Stores& stores, int32_t num_destinations) {
  std::vector<Partition> partitions(static_cast<size_t>(num_destinations));
  for (size_t i = 0; i < partitions.size(); ++i) {
    partitions[i].destination_ = static_cast<int32_t>(i);
  }
  for (const auto& store : stores) {
    for (size_t i = 0, count = store->num_blocks(); i < count; ++i) {
      const auto destination = static_cast<size_t>(store->block(i).destination);
      partitions[destination].blocks_.push_back({store, i});
    }
  }
  return partitions;
}

Partition Partition::Joined(const std::vector<Partition>& partitions) {
  Partition all;
  for (const Partition& partition : partitions) {
    all.blocks_.insert(all.blocks_.end(), partition.blocks_.begin(),
                       partition.blocks_.end());
  }
  return all;
}

Partition Partition::FromPayload(const Payload& payload) {
  auto batches = payload.batches();
  if (batches.empty() && payload.schema() != nullptr) {
    auto empty = arrow::RecordBatch::MakeEmpty(payload.schema());
    if (empty.ok()) batches.push_back(*empty);
  }
  return {{BlockStore::FromBatches(std::move(batches))}, 0};
}

int64_t Partition::num_rows() const {
  int64_t rows = 0;
  for (const auto& [store, index] : blocks_) rows += store->block(index).num_rows;
  return rows;
}

int64_t Partition::num_bytes() const {
  int64_t bytes = 0;
  for (const auto& [store, index] : blocks_) bytes += store->block(index).num_bytes;
  return bytes;
}

int64_t Partition::num_shards() const {
  int64_t others = 0;
  bool table = false;
  for (const auto& [store, index] : blocks_) {
    const bool rows = KindOf(*store->block(index).schema) == PayloadKind::kTable;
    table |= rows;
    others += rows ? 0 : 1;
  }
  return others + (table ? 1 : 0);
}

Storage Partition::storage() const {
  auto storage = Storage::kHeap;
  for (const auto& [store, index] : blocks_) {
    const auto block = store->block(index);
    if (block.on_disk()) return Storage::kFile;
    if (!block.on_heap()) storage = Storage::kShared;
  }
  return storage;
}

arrow::Result<std::shared_ptr<arrow::Schema>> Partition::schema() const {
  if (blocks_.empty()) return nullptr;
  return blocks_[0].store->block(blocks_[0].index).schema;
}

arrow::Result<std::unique_ptr<BatchStream>> Partition::Open(
    std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool) const {
  return std::make_unique<PartitionStream>(blocks_, std::move(schema), pool);
}

arrow::Result<std::vector<Payload>> Partition::Load() const {
  // A function called on parts of a partition may have returned different schemas.
  ARROW_ASSIGN_OR_RAISE(auto unified, UnifySchemas({*this}));
  ARROW_ASSIGN_OR_RAISE(auto stream,
                        Open(DecodedSchema(unified), arrow::default_memory_pool()));
  ARROW_ASSIGN_OR_RAISE(auto batches, ReadAll(*stream));
  std::vector<Payload> payloads;
  arrow::RecordBatchVector table;
  for (auto& batch : batches) {
    if (KindOf(*batch->schema()) == PayloadKind::kTable) {
      table.push_back(std::move(batch));
    } else {
      payloads.push_back(Payload::FromBatch(std::move(batch)));
    }
  }
  if (!table.empty()) {
    auto schema = table[0]->schema();
    payloads.push_back(Payload::Table(std::move(schema), std::move(table)));
  }
  return payloads;
}

std::set<PayloadKind> KindsOf(const std::vector<Partition>& partitions) {
  std::set<PayloadKind> kinds;
  for (const Partition& partition : partitions) {
    for (const auto& [store, index] : partition.blocks()) {
      kinds.insert(KindOf(*store->block(index).schema));
    }
  }
  return kinds;
}

arrow::Result<std::shared_ptr<arrow::Schema>> UnifySchemas(
    const std::vector<Partition>& partitions) {
  std::shared_ptr<arrow::Schema> unified;
  for (const Partition& partition : partitions) {
    for (const auto& [store, index] : partition.blocks()) {
      const auto schema = store->block(index).schema;
      if (schema == nullptr || schema == unified) continue;
      if (KindOf(*schema) != PayloadKind::kTable) continue;
      if (unified == nullptr) {
        unified = schema;
      } else {
        ARROW_ASSIGN_OR_RAISE(unified, Unify(unified, schema));
      }
    }
  }
  return unified;
}

}  // namespace xshards
