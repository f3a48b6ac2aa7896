// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::io {

/// Reads one group of rows of a file, in one or more batches.
using ReadGroup = std::function<arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>(
    int64_t group)>;

/// A stream of a split's groups, each in slices that do not exceed the batch size by
/// much, in the requested schema. Batches are validated in full: offsets, dictionary
/// indices and text in the file may be wrong. Errors name the file.
std::unique_ptr<BatchStream> MakeGroupStream(const Split& split, ReadGroup read,
                                             std::shared_ptr<arrow::Schema> schema,
                                             OperatorContext& context);

}  // namespace xshards::io
