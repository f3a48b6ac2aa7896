// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::io {

/// Opens one split of a file. `schema` is that of the requested batches: the columns the
/// scan's consumer needs, in its order. Both live as long as the stream.
using OpenSplit = std::function<arrow::Result<std::unique_ptr<BatchStream>>(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context)>;

/// Make a scan from a function that opens a split. The scan opens its splits one by one
/// when they are needed, stops at the limit, and counts rows.
OpenNode MakeScan(OpenSplit open);

/// A split of one batch, whose columns `look` computes on demand: for scans that inspect
/// files instead of reading their rows. Objects that `look` refers to must outlive the
/// stream.
std::unique_ptr<BatchStream> MakeOneBatch(
    std::shared_ptr<arrow::Schema> schema,
    std::function<arrow::Result<arrow::ArrayVector>()> look);

/// The schema of a scan's output. KeyError names a column that the files do not have.
arrow::Result<std::shared_ptr<arrow::Schema>> ProjectedSchema(const ScanNode& scan);

/// A schema of some columns of another, in the given order. KeyError as above.
arrow::Result<std::shared_ptr<arrow::Schema>> SelectFields(
    const arrow::Schema& schema, const std::vector<std::string>& columns);

}  // namespace xshards::io
