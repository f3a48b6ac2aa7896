// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/block_store.h"

#include <algorithm>
#include <utility>

#include <arrow/memory_pool.h>

#include "xshards/memory/private_mapping.h"
#include "xshards/memory/segment_pool.h"
#include "xshards/storage/payload.h"
#include "xshards/types/null_sentinels.h"
#include "xshards/types/row_bytes.h"

namespace xshards {

namespace {

// Larger tables stay in several blocks: concatenating needs their memory twice.
constexpr int64_t kMostJoinedBytes = 1LL << 30;

BlockStore::Block HeapBlock(int32_t destination,
                            std::shared_ptr<arrow::RecordBatch> batch) {
  BlockStore::Block block;
  block.destination = destination;
  block.num_rows = batch->num_rows();
  block.num_bytes = RowBytes(*batch);
  block.schema = batch->schema();
  block.batch = std::move(batch);
  return block;
}

/// True if all blocks are on the heap and are rows of one Table for one destination.
bool AreOneTable(const std::vector<BlockStore::Block>& blocks) {
  if (blocks.size() < 2 || blocks[0].schema->num_fields() == 0) return false;
  return KindOf(*blocks[0].schema) == PayloadKind::kTable &&
         std::all_of(blocks.begin(), blocks.end(), [&](const BlockStore::Block& block) {
           return block.on_heap() && block.destination == blocks[0].destination &&
                  block.schema->Equals(*blocks[0].schema, /*check_metadata=*/true);
         });
}

/// Put the columns that are references between those that are not (`own`; nullptr if
/// there are none).
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadReferences(
    const BlockStore::Block& block, const arrow::RecordBatch* own) {
  arrow::ArrayVector columns;
  int next = 0;
  for (size_t i = 0; i < block.references.size(); ++i) {
    if (block.references[i].has_value()) {
      const auto& type = block.schema->field(static_cast<int>(i))->type();
      ARROW_ASSIGN_OR_RAISE(auto column, block.references[i]->Read(type));
      columns.push_back(std::move(column));
    } else if (own != nullptr && next < own->num_columns()) {
      columns.push_back(own->column(next++));
    } else {
      return arrow::Status::Invalid("A stored block lacks column ", i);
    }
  }
  auto batch = arrow::RecordBatch::Make(block.schema, block.num_rows, std::move(columns));
  ARROW_RETURN_NOT_OK(batch->Validate());
  return batch;
}

}  // namespace

const char* ToString(Storage storage) {
  switch (storage) {
    case Storage::kHeap:
      return "heap";
    case Storage::kShared:
      return "shared";
    case Storage::kFile:
      return "file";
  }
  return "unknown";
}

BlockStore::BlockStore(StorageEnvironment environment, bool spillable)
    : environment_(environment), spillable_(spillable) {}

std::shared_ptr<BlockStore> BlockStore::FromBatches(arrow::RecordBatchVector batches) {
  auto store = std::shared_ptr<BlockStore>(
      new BlockStore(StorageEnvironment{}, /*spillable=*/false));
  for (auto& batch : batches) store->Add(HeapBlock(0, std::move(batch)));
  return store;
}

std::shared_ptr<BlockStore> BlockStore::FromBlocks(std::vector<Block> blocks,
                                                   StorageEnvironment environment,
                                                   bool spillable) {
  auto store = std::shared_ptr<BlockStore>(new BlockStore(environment, spillable));
  for (auto& block : blocks) store->Add(std::move(block));
  if (spillable) environment.budget->Register(store);
  return store;
}

std::vector<BlockStore::Block> BlockStore::blocks() const {
  std::lock_guard lock(mutex_);
  return blocks_;
}

BlockStore::Block BlockStore::block(size_t index) const {
  std::lock_guard lock(mutex_);
  return blocks_.at(index);
}

void BlockStore::Add(Block block) {
  if (block.on_heap()) ++num_on_heap_;
  std::lock_guard lock(mutex_);
  blocks_.push_back(std::move(block));
}

size_t BlockStore::num_blocks() const {
  std::lock_guard lock(mutex_);
  return blocks_.size();
}

Storage BlockStore::storage() const {
  std::lock_guard lock(mutex_);
  auto storage = Storage::kHeap;
  for (const Block& block : blocks_) {
    if (block.on_disk()) return Storage::kFile;
    if (!block.on_heap()) storage = Storage::kShared;
  }
  return storage;
}

int64_t BlockStore::num_bytes() const {
  std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.num_bytes;
  return bytes;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> BlockStore::ReadBlock(
    size_t index) const {
  const Block block = this->block(index);
  if (block.batch != nullptr) return block.batch;
  arrow::MemoryPool* pool = environment_.budget != nullptr ? environment_.budget->pool()
                                                           : arrow::default_memory_pool();
  std::shared_ptr<arrow::RecordBatch> own;
  if (block.segment != nullptr) {
    ARROW_ASSIGN_OR_RAISE(own, Segment::Read(block.segment, block.range, pool));
  }
  return block.references.empty() ? own : ReadReferences(block, own.get());
}

arrow::Result<int64_t> BlockStore::Spill() {
  if (!spillable_) return 0;
  return MoveBlocks(
      *environment_.segments, SegmentKind::kDisk, [this](const Block& block) {
        // In a worker a reference costs nothing: the segment is its parent's.
        const bool free = environment_.inputs != nullptr && block.all_references();
        return !block.on_disk() && !free;
      });
}

arrow::Status BlockStore::Share(SegmentPool& segments) {
  if (num_on_heap_ == 0) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(ShareTogether(segments));
  return MoveBlocks(segments, SegmentKind::kMemory,
                    [](const Block& block) { return block.on_heap(); })
      .status();
}

arrow::Status BlockStore::ShareTogether(SegmentPool& segments) {
  std::lock_guard one_mover(moving_);
  const std::vector<Block> before = blocks();
  MemoryBudget* budget = environment_.budget;
  arrow::MemoryPool* pool =
      budget != nullptr ? budget->pool() : arrow::default_memory_pool();
  // While they are concatenated, the rows are in memory three times.
  const int64_t needed = 2 * num_bytes();
  if (!AreOneTable(before) || needed > kMostJoinedBytes ||
      (budget != nullptr && !budget->has_room_for(needed))) {
    return arrow::Status::OK();
  }
  arrow::RecordBatchVector batches;
  for (const Block& block : before) batches.push_back(block.batch);
  ARROW_ASSIGN_OR_RAISE(auto target,
                        segments.ForStore(SegmentKind::kMemory, num_bytes()));
  ARROW_ASSIGN_OR_RAISE(auto joined, arrow::ConcatenateRecordBatches(batches, pool));
  WriteNullValues(*joined);
  ARROW_ASSIGN_OR_RAISE(const auto range, target->Append(*joined));
  ARROW_ASSIGN_OR_RAISE(joined, Segment::Read(target, range, pool));
  ARROW_ASSIGN_OR_RAISE(const auto mapping, Segment::Map(target));
  std::lock_guard lock(mutex_);
  for (int64_t row = 0; Block& block : blocks_) {
    const auto rows = joined->Slice(row, block.num_rows);
    for (const auto& column : rows->column_data()) {
      block.references.emplace_back(ReferWithin(*column, target, *mapping));
    }
    row += block.num_rows;
    block.batch = nullptr;
    --num_on_heap_;
  }
  return arrow::Status::OK();
}

arrow::Status BlockStore::Consolidate(SegmentPool& segments) {
  if (!segments.WouldShare(num_bytes())) return arrow::Status::OK();
  return MoveBlocks(segments, SegmentKind::kMemory,
                    [](const Block& block) {
                      return block.segment != nullptr && !block.on_disk() &&
                             !block.segment->has_many_stores();
                    })
      .status();
}

std::shared_ptr<Segment> BlockStore::DiskSegment() const {
  std::lock_guard lock(mutex_);
  for (const Block& block : blocks_) {
    if (block.on_disk()) return block.segment;
  }
  return nullptr;
}

template <typename Moves>
arrow::Result<int64_t> BlockStore::MoveBlocks(SegmentPool& segments, SegmentKind kind,
                                              const Moves& moves) {
  std::lock_guard one_mover(moving_);
  // A growing store that is spilled repeatedly uses one file, and does not visit all its
  // blocks each time.
  const bool to_disk = kind == SegmentKind::kDisk;
  std::shared_ptr<Segment> target = to_disk ? DiskSegment() : nullptr;
  const size_t count = num_blocks();
  int64_t moved = 0;
  for (size_t i = to_disk ? num_spilled_ : 0; i < count; ++i) {
    const Block block = this->block(i);
    if (!moves(block)) continue;
    if (target == nullptr) {
      ARROW_ASSIGN_OR_RAISE(target, segments.ForStore(kind, num_bytes()));
    }
    ARROW_ASSIGN_OR_RAISE(auto batch, ReadBlock(i));
    ARROW_ASSIGN_OR_RAISE(auto range, target->Append(*batch));
    if (block.on_heap()) --num_on_heap_;
    std::lock_guard lock(mutex_);
    moved += block.num_bytes;
    blocks_[i].segment = target;
    blocks_[i].range = range;
    blocks_[i].batch = nullptr;
    blocks_[i].references.clear();
  }
  if (to_disk) num_spilled_ = count;
  return moved;
}

BlockWriter::BlockWriter(StorageEnvironment environment, Storage storage)
    : environment_(environment),
      storage_(storage),
      store_(new BlockStore(environment, /*spillable=*/true)) {}

arrow::Status BlockWriter::Append(int32_t destination,
                                  std::shared_ptr<arrow::RecordBatch> batch) {
  BlockStore::Block block = HeapBlock(destination, std::move(batch));
  num_rows_ += block.num_rows;
  num_bytes_ += block.num_bytes;
  if (environment_.budget != nullptr) {
    ARROW_RETURN_NOT_OK(environment_.budget->MakeRoom());
  }
  if (storage_ != Storage::kHeap) {
    ARROW_RETURN_NOT_OK(Place(block));
  }
  store_->Add(std::move(block));
  // Nothing colder is left to spill, so this output does not fit.
  if (environment_.budget != nullptr && environment_.budget->over_high_mark()) {
    ARROW_RETURN_NOT_OK(store_->Spill());
  }
  return arrow::Status::OK();
}

arrow::Status BlockWriter::Place(BlockStore::Block& block) {
  // References cost no memory, so they are used even if none is left.
  if (environment_.inputs != nullptr) ARROW_RETURN_NOT_OK(TakeReferences(block));
  if (block.batch == nullptr) return arrow::Status::OK();
  const int64_t bytes = RowBytes(*block.batch);
  const bool to_disk =
      storage_ == Storage::kFile ||
      (environment_.budget != nullptr && !environment_.budget->has_room_for(bytes));
  ARROW_ASSIGN_OR_RAISE(auto segment, OwnSegment(to_disk, bytes));
  ARROW_ASSIGN_OR_RAISE(block.range, segment->Append(*block.batch));
  bytes_written_ += block.range.length;
  block.segment = std::move(segment);
  block.batch = nullptr;
  return arrow::Status::OK();
}

arrow::Status BlockWriter::TakeReferences(BlockStore::Block& block) {
  const auto batch = block.batch;
  const auto found = FindReferences(*batch, *environment_.inputs);
  if (std::find(found.begin(), found.end(), true) == found.end()) {
    return arrow::Status::OK();
  }
  arrow::FieldVector own_fields;
  arrow::ArrayVector own_columns;
  for (int i = 0; i < batch->num_columns(); ++i) {
    if (found[static_cast<size_t>(i)]) continue;
    own_fields.push_back(batch->schema()->field(i));
    own_columns.push_back(batch->column(i));
  }
  block.batch = own_columns.empty()
                    ? nullptr
                    : arrow::RecordBatch::Make(arrow::schema(std::move(own_fields)),
                                               block.num_rows, std::move(own_columns));
  const int64_t own_bytes = block.batch == nullptr ? 0 : RowBytes(*block.batch);
  const int64_t before = memory_segment_ == nullptr ? 0 : memory_segment_->size();
  block.references.resize(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) continue;
    ARROW_ASSIGN_OR_RAISE(
        block.references[i],
        Refer(*batch->column_data(static_cast<int>(i)), *environment_.inputs,
              [&] { return OwnSegment(/*on_disk=*/false, own_bytes); }));
  }
  if (memory_segment_ != nullptr) bytes_written_ += memory_segment_->size() - before;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<Segment>> BlockWriter::OwnSegment(bool on_disk,
                                                                int64_t expected_bytes) {
  auto& segment = on_disk ? disk_segment_ : memory_segment_;
  if (segment == nullptr) {
    ARROW_ASSIGN_OR_RAISE(
        segment,
        environment_.segments->ForStore(
            on_disk ? SegmentKind::kDisk : SegmentKind::kMemory, expected_bytes));
  }
  return segment;
}

arrow::Result<std::shared_ptr<BlockStore>> BlockWriter::Finish() {
  if (environment_.budget != nullptr) environment_.budget->Register(store_);
  return std::move(store_);
}

}  // namespace xshards
