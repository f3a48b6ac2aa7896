// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/join_strategy.h"

#include <algorithm>
#include <utility>

namespace xshards {

namespace {

// A build side held in memory, concatenated and with its table, takes about three times
// its bytes, and the output needs room too.
constexpr int64_t kHeldInMemory = 8;
// Several threads hold a partition each.
constexpr int64_t kPartitionsInMemory = 24;
constexpr int64_t kMaxPartitions = 512;
// Bytes of build rows at a time: with more, every lookup would miss the cache.
constexpr int64_t kBytesInCache = int64_t{1} << 20;

std::string Megabytes(int64_t bytes) {
  return bytes < (1 << 20) ? std::to_string(bytes >> 10) + " KB"
                           : std::to_string(bytes >> 20) + " MB";
}

int64_t HeldBytes(const JoinNode& join, const JoinSide& left, const JoinSide& right) {
  const bool holds_left = join.build_left || join.type == JoinType::kRight;
  return std::max<int64_t>(0, holds_left ? left.num_bytes : right.num_bytes);
}

}  // namespace

JoinChoice ChooseJoin(const JoinNode& join, int64_t left_bytes, int64_t right_bytes,
                      int64_t memory_bytes) {
  JoinChoice choice;
  // Either side of these joins may be the build side; if sizes are similar it is the
  // right, so that rows keep the order of the left. Of other joins it is the side whose
  // rows are not all kept.
  const bool either = join.type == JoinType::kInner || join.type == JoinType::kCross;
  choice.build_left =
      join.type == JoinType::kRight || (either && left_bytes < right_bytes / 2);
  const int64_t held = choice.build_left ? left_bytes : right_bytes;
  const std::string side = choice.build_left ? "left" : "right";
  const std::string by_hash = "both sides are partitioned by the hash of the keys, ";
  if (left_bytes < 0 || right_bytes < 0) {
    choice.algorithm = {
        Algorithm::kUndecidedJoin,
        "the smaller side is broadcast if it is at most an eighth of the memory budget, "
        "else both sides are partitioned by the hash of the keys"};
  } else if (join.type == JoinType::kCross) {
    choice.hold_all = true;
    choice.algorithm = {Algorithm::kCrossJoin,
                        "the smaller side, the " + side + ", is held in memory"};
  } else if (join.type == JoinType::kOuter) {
    choice.algorithm = {Algorithm::kPartitionedJoin,
                        by_hash + "because an outer join keeps all rows of both"};
  } else if (held > memory_bytes / kHeldInMemory) {
    choice.algorithm = {Algorithm::kPartitionedJoin,
                        by_hash + "because the " + side + " (" + Megabytes(held) +
                            ") is larger than an eighth of the memory budget (" +
                            Megabytes(memory_bytes) + ")"};
  } else {
    choice.hold_all = true;
    choice.algorithm = {
        Algorithm::kBroadcastJoin,
        "the " + side + " (" + Megabytes(held) +
            ") is small, so it is held in memory and the other side does not move"};
  }
  return choice;
}

int32_t NumJoinPartitions(const JoinNode& join, const JoinSide& left,
                          const JoinSide& right, int64_t memory_bytes) {
  const int64_t held = HeldBytes(join, left, right);
  const int64_t share = std::max<int64_t>(1, memory_bytes / kPartitionsInMemory);
  const int64_t needed = std::min((held + share - 1) / share, kMaxPartitions);
  const auto there =
      static_cast<int64_t>(std::max(left.num_partitions, right.num_partitions));
  return static_cast<int32_t>(std::max<int64_t>({1, there, needed}));
}

int32_t NumJoinParts(const JoinNode& join, const JoinSide& left, const JoinSide& right,
                     int32_t num_partitions) {
  const int64_t in_partition = HeldBytes(join, left, right) / num_partitions;
  const int64_t wanted = (in_partition + kBytesInCache - 1) / kBytesInCache;
  return static_cast<int32_t>(std::clamp<int64_t>(
      wanted, 1, std::max(int64_t{1}, kMaxPartitions / num_partitions)));
}

}  // namespace xshards
