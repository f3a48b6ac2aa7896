// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/compute/cast.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards {

/// Give a batch another schema: columns matched by name and cast, missing ones all null.
/// The batch itself if nothing differs. TypeError names a column that cannot be cast.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::RecordBatch>> Conform(
    std::shared_ptr<arrow::RecordBatch> batch,
    const std::shared_ptr<arrow::Schema>& schema, arrow::MemoryPool* pool);

/// The options for casting values to the common type of a union.
XSHARDS_EXPORT arrow::compute::CastOptions WideningCast(
    const arrow::DataType& from, const std::shared_ptr<arrow::DataType>& to);

/// Widen two schemas to one that holds both, column by column (see ConcatField): columns
/// that only one has are null in the other. TypeError names a column without a common
/// type.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Schema>> Unify(
    const std::shared_ptr<arrow::Schema>& left,
    const std::shared_ptr<arrow::Schema>& right);

}  // namespace xshards
