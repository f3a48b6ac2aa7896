// SPDX-License-Identifier: Apache-2.0
#include "xshards/range_boundaries.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/table.h>

#include "xshards/conform.h"
#include "xshards/pandas_dtype.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

// Enough for ranges within a few percent of each other, and quick to sort.
constexpr size_t kMaxSampledBlocks = 256;
constexpr int64_t kRowsPerBlock = 1024;

std::shared_ptr<arrow::Array> EvenlySpaced(int64_t count, int64_t wanted) {
  arrow::Int64Builder builder;
  wanted = std::min(count, wanted);
  for (int64_t i = 0; i < wanted; ++i) {
    if (!builder.Append(i * count / wanted).ok()) break;
  }
  return builder.Finish().ValueOr(nullptr);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(
    const std::shared_ptr<arrow::RecordBatch>& batch,
    const std::shared_ptr<arrow::Array>& rows, cp::ExecContext* context) {
  ARROW_ASSIGN_OR_RAISE(auto taken, cp::Take(arrow::Datum(batch), arrow::Datum(rows),
                                             cp::TakeOptions::NoBoundsCheck(), context));
  return taken.record_batch();
}

/// The keys as they are sorted by: categories by their codes.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> SortableKeys(
    const arrow::RecordBatch& keys, arrow::MemoryPool* pool) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (int i = 0; i < keys.num_columns(); ++i) {
    const auto& field = keys.schema()->field(i);
    ARROW_ASSIGN_OR_RAISE(auto column, SortValues(keys.column(i), *field, pool));
    fields.push_back(arrow::field(field->name(), column->type()));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), keys.num_rows(),
                                  std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::Schema>> SortableSchema(
    const std::shared_ptr<arrow::Schema>& schema, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto empty, arrow::RecordBatch::MakeEmpty(schema, pool));
  ARROW_ASSIGN_OR_RAISE(auto keys, SortableKeys(*empty, pool));
  return keys->schema();
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ChooseBoundaries(
    const std::vector<Partition>& partitions, const SortNode& sort,
    const std::shared_ptr<arrow::Schema>& schema, int num_ranges,
    arrow::MemoryPool* pool) {
  std::vector<Partition::BlockPlace> blocks;
  for (const auto& partition : partitions) {
    for (const auto& place : partition.blocks()) {
      if (place.store->block(place.index).num_rows > 0) blocks.push_back(place);
    }
  }
  arrow::FieldVector fields;
  for (const auto& key : sort.keys) fields.push_back(schema->GetFieldByName(key.column));
  const auto key_schema = arrow::schema(std::move(fields));
  cp::ExecContext context(pool);
  arrow::RecordBatchVector samples;
  const size_t step = std::max<size_t>(1, blocks.size() / kMaxSampledBlocks);
  for (size_t i = 0; i < blocks.size(); i += step) {
    ARROW_ASSIGN_OR_RAISE(auto batch, blocks[i].store->ReadBlock(blocks[i].index));
    ARROW_ASSIGN_OR_RAISE(auto keys, Conform(std::move(batch), key_schema, pool));
    ARROW_ASSIGN_OR_RAISE(
        keys, TakeRows(keys, EvenlySpaced(keys->num_rows(), kRowsPerBlock), &context));
    ARROW_ASSIGN_OR_RAISE(keys, SortableKeys(*keys, pool));
    samples.push_back(std::move(keys));
  }
  ARROW_ASSIGN_OR_RAISE(auto sorted_schema, SortableSchema(key_schema, pool));
  ARROW_ASSIGN_OR_RAISE(auto table,
                        arrow::Table::FromRecordBatches(sorted_schema, samples));
  ARROW_ASSIGN_OR_RAISE(auto sample, table->CombineChunksToBatch(pool));
  std::vector<cp::SortKey> sort_keys;
  for (const auto& key : sort.keys) {
    sort_keys.emplace_back(
        key.column, key.ascending ? cp::SortOrder::Ascending : cp::SortOrder::Descending,
        sort.nulls_first ? cp::NullPlacement::AtStart : cp::NullPlacement::AtEnd);
  }
  cp::SortOptions options(std::move(sort_keys));
  ARROW_ASSIGN_OR_RAISE(auto order,
                        cp::SortIndices(arrow::Datum(sample), options, &context));
  ARROW_ASSIGN_OR_RAISE(sample, TakeRows(sample, order, &context));
  arrow::Int64Builder rows;
  for (int i = 1; i < num_ranges && sample->num_rows() > 0; ++i) {
    ARROW_RETURN_NOT_OK(rows.Append(sample->num_rows() * i / num_ranges));
  }
  ARROW_ASSIGN_OR_RAISE(auto chosen, rows.Finish());
  return TakeRows(sample, chosen, &context);
}

}  // namespace xshards
