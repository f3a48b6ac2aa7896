// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "xshards/execution/fragments/fragment.h"
#include "xshards/export.h"
#include "xshards/storage/partition.h"
#include "xshards/type_fwd.h"

namespace xshards::learn {

/// Partitions that other processes read in place: an encoded list of segments and ranges,
/// and the segments, which are not reused while this object lives.
class XSHARDS_EXPORT LentPartitions {
 public:
  /// `context` owns the memory of the partitions and is kept alive.
  static arrow::Result<std::unique_ptr<LentPartitions>> Make(
      std::shared_ptr<Context> context, const std::vector<Partition>& partitions);
  ~LentPartitions();
  LentPartitions(const LentPartitions&) = delete;
  LentPartitions& operator=(const LentPartitions&) = delete;

  const std::shared_ptr<arrow::Buffer>& bytes() const { return encoded_.bytes; }
  const std::vector<std::shared_ptr<Segment>>& segments() const {
    return encoded_.segments;
  }
  int64_t num_rows() const { return num_rows_; }

 private:
  LentPartitions(std::shared_ptr<Context> context, Encoded encoded, int64_t num_rows);

  std::shared_ptr<Context> context_;
  Encoded encoded_;  // after context_, so that it is destroyed first
  int64_t num_rows_ = 0;
};

/// Partitions that another process lent.
class XSHARDS_EXPORT BorrowedPartitions {
 public:
  /// `bytes` and `segments` are those of a LentPartitions. `memory_bytes` and
  /// `spill_directory` are for data that is read from disk.
  static arrow::Result<BorrowedPartitions> Make(
      const std::shared_ptr<arrow::Buffer>& bytes,
      std::span<const std::shared_ptr<Segment>> segments,
      const std::string& spill_directory, int64_t memory_bytes);

  const std::vector<Partition>& partitions() const { return partitions_; }
  /// Counts what is read from disk.
  arrow::MemoryPool* pool() const;
  /// Owns the pool: keep it with data that came from the partitions.
  const std::shared_ptr<void>& home() const { return home_; }

 private:
  struct Home;
  BorrowedPartitions(std::shared_ptr<Home> home, std::vector<Partition> partitions);

  std::shared_ptr<void> home_;         // a Home
  std::vector<Partition> partitions_;  // after home_, so that they are destroyed first
};

}  // namespace xshards::learn
