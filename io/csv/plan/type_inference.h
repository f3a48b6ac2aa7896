// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <arrow/util/cancel.h>

#include "io/csv/options.h"
#include "io/csv/parse/value_kinds.h"
#include "io/csv/scan_options.h"
#include "io/scan/scan_extent.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that output the kinds of values of a split instead of rows: one
/// row of CsvKinds, for the columns of the scan's schema.
inline constexpr char kCsvKindsFormat[] = "csv_kinds";

OpenNode MakeCsvKindsScan();

/// The types inferred from all values of a scan (a FindTypes), for the requested columns.
/// Reads only the columns whose types more values can change.
arrow::Result<std::shared_ptr<arrow::Schema>> FindCsvTypes(const ScanNode& scan,
                                                           const RunPlan& run);

/// Describe the place of a value by its line number (a DescribePlace).
std::optional<std::string> DescribeCsvPlace(const ScanNode& scan,
                                            const TypeMismatchLocation& place,
                                            arrow::MemoryPool* pool);

/// The kinds of the values that some columns of a scan have.
arrow::Result<std::vector<CsvKinds>> FindCsvKinds(const ScanNode& scan,
                                                  const std::vector<std::string>& columns,
                                                  ScanExtent extent, const RunPlan& run);

/// Remove everything after a scan's first rows from its splits; rows are counted on the
/// calling thread. The last remaining split gets its number of requested rows.
arrow::Status KeepFirstCsvRows(int64_t num_rows, const arrow::StopToken& stop,
                               arrow::MemoryPool* pool, const CsvScanOptions& scan,
                               std::vector<Split>* splits);

}  // namespace xshards::io
