// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/lent_partitions.h"

#include <utility>

#include "xshards/context.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/memory/segment.h"
#include "xshards/memory/segment_pool.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/collected.h"

namespace xshards::learn {

arrow::Result<std::unique_ptr<LentPartitions>> LentPartitions::Make(
    std::shared_ptr<Context> context, const std::vector<Partition>& partitions) {
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(partitions));
  Fragment fragment;
  fragment.root =
      MakeNode(LiteralNode{.schema = std::move(schema), .partitions = partitions});
  ARROW_ASSIGN_OR_RAISE(auto encoded, EncodeFragment(fragment, context->storage()));
  return std::unique_ptr<LentPartitions>(
      new LentPartitions(std::move(context), std::move(encoded), NumRows(partitions)));
}

LentPartitions::LentPartitions(std::shared_ptr<Context> context, Encoded encoded,
                               int64_t num_rows)
    : context_(std::move(context)), encoded_(std::move(encoded)), num_rows_(num_rows) {
  for (const auto& segment : encoded_.segments) segment->Lend();
}

LentPartitions::~LentPartitions() {
  for (const auto& segment : encoded_.segments) segment->TakeBack();
}

struct BorrowedPartitions::Home {
  explicit Home(int64_t memory_bytes) : budget(memory_bytes) {}
  MemoryBudget budget;
  std::unique_ptr<SegmentPool> segments;
};

BorrowedPartitions::BorrowedPartitions(std::shared_ptr<Home> home,
                                       std::vector<Partition> partitions)
    : home_(std::move(home)), partitions_(std::move(partitions)) {}

arrow::Result<BorrowedPartitions> BorrowedPartitions::Make(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::span<const std::shared_ptr<Segment>> segments,
    const std::string& spill_directory, int64_t memory_bytes) {
  auto home = std::make_shared<Home>(memory_bytes);
  ARROW_ASSIGN_OR_RAISE(home->segments,
                        SegmentPool::Make(spill_directory, &home->budget, 0));
  ARROW_ASSIGN_OR_RAISE(
      const auto fragment,
      DecodeFragment(bytes, segments,
                     {.budget = &home->budget, .segments = home->segments.get()}));
  if (fragment.root->kind() != NodeKind::kLiteral) {
    return arrow::Status::Invalid("Expected encoded partitions, got a fragment: ",
                                  Describe(*fragment.root));
  }
  return BorrowedPartitions(std::move(home), fragment.root->as<LiteralNode>().partitions);
}

arrow::MemoryPool* BorrowedPartitions::pool() const {
  return static_cast<Home*>(home_.get())->budget.pool();
}

}  // namespace xshards::learn
