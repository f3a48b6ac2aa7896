// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "io/json/options.h"
#include "io/json/structure.h"
#include "io/scan/scan_extent.h"
#include "xshards/execution/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that give, instead of rows, what shape the records of a split
/// have: one row, an encoded JsonShape.
inline constexpr char kJsonShapesFormat[] = "json_shapes";

OpenNode MakeJsonShapesScan();

/// The types that all values of a scan give (a FindTypes), or of each split's first
/// `nrows`; also the keys that no sample had.
arrow::Result<std::shared_ptr<arrow::Schema>> FindJsonTypes(const ScanNode& scan,
                                                            const RunPlan& run);

/// Describe the place of a value by its line number (a DescribePlace).
std::optional<std::string> DescribeJsonPlace(const ScanNode& scan,
                                             const TypeMismatchLocation& place,
                                             arrow::MemoryPool* pool);

/// What shape the records of a scan have.
arrow::Result<JsonShape> FindJsonShape(const ScanNode& scan, ScanExtent extent,
                                       const RunPlan& run);

/// What a sample is of a split.
struct JsonSample {
  int64_t num_records = 0;
  bool is_whole = false;
};

/// Take in the records at the start of a split, `nrows` at most, on the calling thread.
arrow::Result<JsonSample> SampleJson(const Split& split, const JsonOptions& options,
                                     JsonShape* shape, arrow::MemoryPool* pool);

/// The columns of a shape, in the order they appeared, with the types asked for; then
/// those that are only asked for.
arrow::Result<std::shared_ptr<arrow::Schema>> JsonSchema(const JsonShape& shape,
                                                         const JsonOptions& options);

}  // namespace xshards::io
