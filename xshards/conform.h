// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards {

/// Give a batch another schema: columns matched by name and cast, missing ones all null.
/// The batch itself where nothing differs. TypeError names a column that does not cast.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::RecordBatch>> Conform(
    std::shared_ptr<arrow::RecordBatch> batch,
    const std::shared_ptr<arrow::Schema>& schema, arrow::MemoryPool* pool);

/// Widen two schemas to one that holds both: int + float → float, null + anything →
/// anything. TypeError names a column that has no common type.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Schema>> Unify(
    const std::shared_ptr<arrow::Schema>& left,
    const std::shared_ptr<arrow::Schema>& right);

}  // namespace xshards
