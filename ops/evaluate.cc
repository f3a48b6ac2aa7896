// SPDX-License-Identifier: Apache-2.0
#include "ops/evaluate.h"

#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/chunked_array.h>
#include <arrow/datum.h>

namespace xshards::ops {

arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(
    const arrow::compute::Expression& bound, const arrow::RecordBatch& batch,
    arrow::compute::ExecContext* exec) {
  ARROW_ASSIGN_OR_RAISE(auto value, arrow::compute::ExecuteScalarExpression(
                                        bound, arrow::compute::ExecBatch(batch), exec));
  if (value.is_scalar()) {
    return arrow::MakeArrayFromScalar(*value.scalar(), batch.num_rows(),
                                      exec->memory_pool());
  }
  if (value.is_chunked_array()) {
    const auto& chunks = *value.chunked_array();
    if (chunks.num_chunks() == 0) {
      return arrow::MakeEmptyArray(chunks.type(), exec->memory_pool());
    }
    return arrow::Concatenate(chunks.chunks(), exec->memory_pool());
  }
  return value.make_array();
}

}  // namespace xshards::ops
