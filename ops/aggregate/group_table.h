// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/aggregate/accumulator.h"
#include "ops/keys/key_table.h"

namespace xshards::ops {

/// One aggregate, with its column positions resolved.
struct GroupedColumn {
  AccumulatorOptions accumulator;
  std::shared_ptr<arrow::Field> field;  // of the result
  int value = -1;                       // the column of values; -1: rows are counted
  std::vector<int> states;              // or the columns of states to merge
};

/// The groups of a partition: their keys, in order of appearance, and the state of every
/// aggregate.
class GroupTable {
 public:
  /// `keys` and the positions in `columns` are those of the batches. Without keys there
  /// is exactly one group. With `by_last`, groups are in order of last appearance.
  static arrow::Result<std::unique_ptr<GroupTable>> Make(
      std::vector<int> keys, const std::vector<GroupedColumn>& columns, bool by_last,
      arrow::MemoryPool* pool);

  arrow::Status Consume(const arrow::RecordBatch& batch);
  /// Consume the rows of existing groups, and return the numbers of the other rows.
  arrow::Result<std::vector<int64_t>> ConsumeKnown(
      const std::shared_ptr<arrow::RecordBatch>& batch);
  /// The keys' columns, then the result of every aggregate. Called once, when there is a
  /// group.
  arrow::Result<arrow::ArrayVector> Finish();
  /// The same with the states of every aggregate, which must have been created with
  /// gives_states.
  arrow::Result<arrow::ArrayVector> States();

  /// The result of States if every row of the batch were a separate group; on a table
  /// that has consumed nothing.
  arrow::Result<arrow::ArrayVector> EachRow(const arrow::RecordBatch& batch);

  int64_t num_groups() const;
  /// Memory it uses outside the pool.
  int64_t num_bytes() const;

 private:
  GroupTable(std::vector<int> keys, std::vector<GroupedColumn> columns, bool by_last,
             arrow::MemoryPool* pool);
  arrow::Status FindGroups(const arrow::RecordBatch& batch);
  /// Add the rows to the groups in groups_.
  arrow::Status Accumulate(const arrow::RecordBatch& batch, int64_t num_groups);
  arrow::Result<arrow::ArrayVector> Take(bool as_states);
  void NoteLastRows();
  std::shared_ptr<arrow::Array> OrderByLastRow() const;

  const std::vector<int> keys_;
  std::vector<GroupedColumn> columns_;
  const bool by_last_;
  arrow::MemoryPool* const pool_;
  KeyTable table_;
  std::vector<arrow::ArrayVector> key_values_;  // by key: of the groups, in order
  std::vector<std::unique_ptr<Accumulator>> accumulators_;
  std::vector<uint32_t> groups_;    // of the rows of the current batch
  std::vector<int64_t> last_rows_;  // by group, if that is their order
  int64_t num_rows_ = 0;
};

}  // namespace xshards::ops
