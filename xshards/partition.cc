// SPDX-License-Identifier: Apache-2.0
#include "xshards/partition.h"

#include <algorithm>
#include <utility>

#include "xshards/batch_stream.h"
#include "xshards/conform.h"

namespace xshards {

namespace {

/// Reads the blocks of one partition one at a time, so that no more than one of a
/// spilled partition's is in memory.
class PartitionStream final : public BatchStream {
 public:
  PartitionStream(std::vector<std::shared_ptr<BlockStore>> stores, int32_t destination,
                  std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool)
      : stores_(std::move(stores)),
        destination_(destination),
        schema_(std::move(schema)),
        pool_(pool) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    for (; store_ < stores_.size(); ++store_, block_ = 0) {
      if (block_ == 0) blocks_ = stores_[store_]->blocks();
      while (block_ < blocks_.size()) {
        const size_t index = block_++;
        if (blocks_[index].destination != destination_) continue;
        blocks_[index].batch = nullptr;  // not held longer than the consumer does
        ARROW_ASSIGN_OR_RAISE(auto batch, stores_[store_]->ReadBlock(index));
        if (schema_ == nullptr || KindOf(*batch->schema()) != PayloadKind::kTable) {
          return batch;
        }
        return Conform(std::move(batch), schema_, pool_);
      }
    }
    return nullptr;
  }

 private:
  std::vector<std::shared_ptr<BlockStore>> stores_;
  int32_t destination_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::MemoryPool* pool_;
  size_t store_ = 0;
  size_t block_ = 0;
  std::vector<BlockStore::Block> blocks_;
};

}  // namespace

Partition::Partition(std::vector<std::shared_ptr<BlockStore>> stores, int32_t destination)
    : stores_(std::move(stores)), destination_(destination) {}

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
  for (const auto& store : stores_) {
    for (const auto& block : store->blocks()) {
      if (block.destination == destination_) rows += block.num_rows;
    }
  }
  return rows;
}

int64_t Partition::num_bytes() const {
  int64_t bytes = 0;
  for (const auto& store : stores_) {
    for (const auto& block : store->blocks()) {
      if (block.destination == destination_) bytes += block.num_bytes;
    }
  }
  return bytes;
}

int64_t Partition::num_shards() const {
  int64_t others = 0;
  bool table = false;
  for (const auto& store : stores_) {
    for (const auto& block : store->blocks()) {
      if (block.destination != destination_) continue;
      const bool rows = KindOf(*block.schema) == PayloadKind::kTable;
      table |= rows;
      others += rows ? 0 : 1;
    }
  }
  return others + (table ? 1 : 0);
}

Storage Partition::storage() const {
  auto storage = Storage::kHeap;
  for (const auto& store : stores_) storage = std::max(storage, store->storage());
  return storage;
}

arrow::Result<std::shared_ptr<arrow::Schema>> Partition::schema() const {
  for (const auto& store : stores_) {
    for (const auto& block : store->blocks()) {
      if (block.destination == destination_) return block.schema;
    }
  }
  return nullptr;
}

arrow::Result<std::unique_ptr<BatchStream>> Partition::Open(
    std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool) const {
  return std::make_unique<PartitionStream>(stores_, destination_, std::move(schema),
                                           pool);
}

arrow::Result<std::vector<Payload>> Partition::Load() const {
  // A function called on pieces of a partition may have given each another schema.
  ARROW_ASSIGN_OR_RAISE(auto unified, UnifySchemas({*this}));
  ARROW_ASSIGN_OR_RAISE(auto stream, Open(unified, arrow::default_memory_pool()));
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
    for (const auto& store : partition.stores()) {
      for (const auto& block : store->blocks()) {
        if (block.destination == partition.destination()) {
          kinds.insert(KindOf(*block.schema));
        }
      }
    }
  }
  return kinds;
}

arrow::Result<std::shared_ptr<arrow::Schema>> UnifySchemas(
    const std::vector<Partition>& partitions) {
  std::shared_ptr<arrow::Schema> unified;
  for (const Partition& partition : partitions) {
    for (const auto& store : partition.stores()) {
      for (const auto& block : store->blocks()) {
        if (block.destination != partition.destination()) continue;
        if (block.schema == nullptr || block.schema == unified) continue;
        if (KindOf(*block.schema) != PayloadKind::kTable) continue;
        if (unified == nullptr) {
          unified = block.schema;
        } else {
          ARROW_ASSIGN_OR_RAISE(unified, Unify(unified, block.schema));
        }
      }
    }
  }
  return unified;
}

}  // namespace xshards
