// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/execution/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::io {

/// Reads one of the groups of rows that a file is made of, whole.
using ReadGroup =
    std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(int64_t group)>;

/// A stream of a split's groups, each given in slices that do not exceed the size of a
/// batch by much, in the schema asked for. Errors name the file.
std::unique_ptr<BatchStream> MakeGroupStream(const Split& split, ReadGroup read,
                                             std::shared_ptr<arrow::Schema> schema,
                                             OperatorContext& context);

}  // namespace xshards::io
