// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/planner/range_boundaries.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/table.h>
#include <arrow/type_traits.h>

#include "xshards/types/conform.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

// Enough for range sizes within a few percent of each other, and quick to sort.
constexpr size_t kMaxSampledBlocks = 256;
constexpr size_t kSampledRows = size_t{1} << 15;

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

/// NaN and null are one missing value.
arrow::Result<std::shared_ptr<arrow::Array>> NaNToNull(
    std::shared_ptr<arrow::Array> column, cp::ExecContext* context) {
  if (!arrow::is_floating(column->type_id())) return column;
  ARROW_ASSIGN_OR_RAISE(
      auto missing, cp::IsNull(column, cp::NullOptions(/*nan_is_null=*/true), context));
  ARROW_ASSIGN_OR_RAISE(
      auto values,
      cp::IfElse(missing, arrow::MakeNullScalar(column->type()), column, context));
  return values.make_array();
}

/// The sort keys: categories as their codes.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> SortableKeys(
    const arrow::RecordBatch& keys, cp::ExecContext* context) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (int i = 0; i < keys.num_columns(); ++i) {
    const auto& field = keys.schema()->field(i);
    ARROW_ASSIGN_OR_RAISE(auto column,
                          SortValues(keys.column(i), *field, context->memory_pool()));
    ARROW_ASSIGN_OR_RAISE(column, NaNToNull(std::move(column), context));
    fields.push_back(arrow::field(field->name(), column->type()));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), keys.num_rows(),
                                  std::move(columns));
}

std::vector<Partition::BlockPlace> BlocksWithRows(const Partition& partition) {
  std::vector<Partition::BlockPlace> blocks;
  for (const auto& place : partition.blocks()) {
    if (place.store->block(place.index).num_rows > 0) blocks.push_back(place);
  }
  return blocks;
}

/// Reads the sort keys of chosen rows.
class KeyReader {
 public:
  KeyReader(const SortNode& sort, const arrow::Schema& schema, arrow::MemoryPool* pool)
      : context_(pool) {
    arrow::FieldVector fields;
    for (const auto& key : sort.keys) fields.push_back(schema.GetFieldByName(key.column));
    schema_ = arrow::schema(std::move(fields));
  }

  arrow::Status Add(const Partition::BlockPlace& place,
                    const std::function<std::shared_ptr<arrow::Array>(int64_t)>& choose) {
    auto* pool = context_.memory_pool();
    ARROW_ASSIGN_OR_RAISE(auto batch, place.store->ReadBlock(place.index));
    ARROW_ASSIGN_OR_RAISE(auto keys, Conform(std::move(batch), schema_, pool));
    ARROW_ASSIGN_OR_RAISE(keys, TakeRows(keys, choose(keys->num_rows()), &context_));
    ARROW_ASSIGN_OR_RAISE(keys, SortableKeys(*keys, &context_));
    read_.push_back(std::move(keys));
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish() {
    auto* pool = context_.memory_pool();
    ARROW_ASSIGN_OR_RAISE(auto empty, arrow::RecordBatch::MakeEmpty(schema_, pool));
    ARROW_ASSIGN_OR_RAISE(auto none, SortableKeys(*empty, &context_));
    ARROW_ASSIGN_OR_RAISE(auto table,
                          arrow::Table::FromRecordBatches(none->schema(), read_));
    return table->CombineChunksToBatch(pool);
  }

 private:
  cp::ExecContext context_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::RecordBatchVector read_;
};

/// Keys of evenly spaced rows, in the order of the rows.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> SampleKeys(
    const std::vector<Partition>& partitions, const SortNode& sort,
    const arrow::Schema& schema, arrow::MemoryPool* pool) {
  std::vector<Partition::BlockPlace> blocks;
  for (const auto& partition : partitions) {
    const auto own = BlocksWithRows(partition);
    blocks.insert(blocks.end(), own.begin(), own.end());
  }
  KeyReader reader(sort, schema, pool);
  const size_t step = std::max<size_t>(1, blocks.size() / kMaxSampledBlocks);
  const auto rows_per_block =
      static_cast<int64_t>(kSampledRows * step / std::max<size_t>(1, blocks.size()));
  for (size_t i = 0; i < blocks.size(); i += step) {
    ARROW_RETURN_NOT_OK(reader.Add(
        blocks[i], [&](int64_t rows) { return EvenlySpaced(rows, rows_per_block); }));
  }
  return reader.Finish();
}

/// Keys of the first and the last row of each partition.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> EndKeys(
    const std::vector<Partition>& partitions, const SortNode& sort,
    const arrow::Schema& schema, arrow::MemoryPool* pool) {
  KeyReader reader(sort, schema, pool);
  for (const auto& partition : partitions) {
    const auto blocks = BlocksWithRows(partition);
    if (blocks.empty()) continue;
    ARROW_RETURN_NOT_OK(
        reader.Add(blocks.front(), [](int64_t) { return EvenlySpaced(1, 1); }));
    ARROW_RETURN_NOT_OK(reader.Add(blocks.back(), [](int64_t rows) {
      return EvenlySpaced(rows, rows)->Slice(rows - 1);
    }));
  }
  return reader.Finish();
}

/// The rows of keys in sort order; stable.
arrow::Result<std::shared_ptr<arrow::Array>> OrderOf(
    const std::shared_ptr<arrow::RecordBatch>& keys, const SortNode& sort,
    cp::ExecContext* context) {
  std::vector<cp::SortKey> sort_keys;
  for (size_t i = 0; i < sort.keys.size(); ++i) {
    // By position: a column may be sorted by twice.
    sort_keys.emplace_back(
        arrow::FieldRef(static_cast<int>(i)),
        sort.keys[i].ascending ? cp::SortOrder::Ascending : cp::SortOrder::Descending,
        sort.nulls_first ? cp::NullPlacement::AtStart : cp::NullPlacement::AtEnd);
  }
  const cp::SortOptions options(std::move(sort_keys));
  return cp::SortIndices(arrow::Datum(keys), options, context);
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ChooseBoundaries(
    const std::vector<Partition>& partitions, const SortNode& sort,
    const std::shared_ptr<arrow::Schema>& schema, int num_ranges,
    arrow::MemoryPool* pool) {
  cp::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(auto sample, SampleKeys(partitions, sort, *schema, pool));
  ARROW_ASSIGN_OR_RAISE(auto order, OrderOf(sample, sort, &context));
  ARROW_ASSIGN_OR_RAISE(sample, TakeRows(sample, order, &context));
  arrow::Int64Builder rows;
  for (int i = 1; i < num_ranges && sample->num_rows() > 0; ++i) {
    ARROW_RETURN_NOT_OK(rows.Append(sample->num_rows() * i / num_ranges));
  }
  ARROW_ASSIGN_OR_RAISE(auto chosen, rows.Finish());
  return TakeRows(sample, chosen, &context);
}

arrow::Result<bool> AreInOrder(const std::vector<Partition>& partitions,
                               const SortNode& sort,
                               const std::shared_ptr<arrow::Schema>& schema,
                               RowsSeen seen, arrow::MemoryPool* pool) {
  cp::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(auto keys, seen == RowsSeen::kSample
                                       ? SampleKeys(partitions, sort, *schema, pool)
                                       : EndKeys(partitions, sort, *schema, pool));
  ARROW_ASSIGN_OR_RAISE(auto order, OrderOf(keys, sort, &context));
  const auto* rows = static_cast<const arrow::UInt64Array&>(*order).raw_values();
  for (int64_t i = 0; i < order->length(); ++i) {
    if (rows[i] != static_cast<uint64_t>(i)) return false;
  }
  return true;
}

}  // namespace xshards
