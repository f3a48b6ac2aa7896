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
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that output the shape of a split's records instead of rows: one
/// row, an encoded JsonShape.
inline constexpr char kJsonShapesFormat[] = "json_shapes";

OpenNode MakeJsonShapesScan();

/// The types inferred from all values of a scan (a FindTypes), or from each split's first
/// `nrows`; also the keys that no sample had.
arrow::Result<std::shared_ptr<arrow::Schema>> FindJsonTypes(const ScanNode& scan,
                                                            const RunPlan& run);

/// Describe the place of a value by its line number (a DescribePlace).
std::optional<std::string> DescribeJsonPlace(const ScanNode& scan,
                                             const TypeMismatchLocation& place,
                                             arrow::MemoryPool* pool);

/// The shape of the records of a scan.
arrow::Result<JsonShape> FindJsonShape(const ScanNode& scan, ScanExtent extent,
                                       const RunPlan& run);

/// The part of a split that is sampled.
struct JsonSample {
  int64_t num_records = 0;
  bool is_whole = false;
};

/// Add the records at the start of a split, at most `nrows`, on the calling thread.
arrow::Result<JsonSample> SampleJson(const Split& split, const JsonOptions& options,
                                     JsonShape* shape, arrow::MemoryPool* pool);

/// The columns of a shape, in order of appearance, with the requested types; then
/// requested columns that the shape lacks.
arrow::Result<std::shared_ptr<arrow::Schema>> JsonSchema(const JsonShape& shape,
                                                         const JsonOptions& options);

}  // namespace xshards::io
