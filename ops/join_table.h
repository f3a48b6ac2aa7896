// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/key_table.h"

namespace xshards::ops {

/// The rows of the side of a join that is held, found by key.
class JoinTable {
 public:
  static arrow::Result<std::unique_ptr<JoinTable>> Make(
      std::shared_ptr<arrow::RecordBatch> rows, const std::vector<int>& keys,
      arrow::MemoryPool* pool);

  const std::shared_ptr<arrow::RecordBatch>& rows() const { return rows_; }

  /// Number the keys of a batch of the other side: KeyTable::kNoKey where no row matches.
  arrow::Status Find(const arrow::RecordBatch& batch, const std::vector<int>& keys,
                     std::vector<uint32_t>* ids) const;
  /// The rows with that key, in order; none for kNoKey.
  std::span<const int64_t> Matches(uint32_t id) const;
  /// The rows whose key is not marked, in order. `marks` has one entry a key.
  std::vector<int64_t> Unmarked(const std::vector<uint8_t>& marks) const;

  uint32_t num_keys() const { return table_.size(); }
  /// Memory it holds outside the pool.
  int64_t num_bytes() const;

 private:
  JoinTable(std::shared_ptr<arrow::RecordBatch> rows, arrow::MemoryPool* pool);
  void GroupRows();

  const std::shared_ptr<arrow::RecordBatch> rows_;
  arrow::MemoryPool* const pool_;
  KeyTable table_;
  std::vector<uint32_t> ids_;    // of the rows
  std::vector<size_t> starts_;   // of key i's rows in by_key_; one more at the end
  std::vector<int64_t> by_key_;  // row numbers, those of a key together
};

}  // namespace xshards::ops
