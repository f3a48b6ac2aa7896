// SPDX-License-Identifier: Apache-2.0
#include "ops/gather.h"

#include <algorithm>
#include <utility>

#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>

#include "ops/vector_array.h"

namespace xshards::ops {

namespace {

arrow::Result<arrow::Datum> Take(const arrow::Datum& values,
                                 const std::shared_ptr<arrow::Array>& rows,
                                 arrow::MemoryPool* pool) {
  arrow::compute::ExecContext exec(pool);
  exec.set_use_threads(false);
  return arrow::compute::Take(values, rows, arrow::compute::TakeOptions::NoBoundsCheck(),
                              &exec);
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> RowsOrNull(std::vector<int64_t> rows,
                                                        arrow::MemoryPool* pool) {
  const auto is_null = [](int64_t row) { return row < 0; };
  if (std::none_of(rows.begin(), rows.end(), is_null)) return ToArray(std::move(rows));
  const int64_t* numbers = rows.data();
  return ToArray(std::move(rows), [=](size_t i) { return is_null(numbers[i]); }, pool);
}

arrow::Result<std::shared_ptr<arrow::Array>> Gather(
    const std::shared_ptr<arrow::Array>& values,
    const std::shared_ptr<arrow::Array>& rows, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto taken, Take(values, rows, pool));
  return taken.make_array();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Gather(
    const std::shared_ptr<arrow::RecordBatch>& batch,
    const std::shared_ptr<arrow::Array>& rows, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto taken, Take(batch, rows, pool));
  return taken.record_batch();
}

}  // namespace xshards::ops
