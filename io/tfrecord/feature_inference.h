// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <arrow/result.h>
#include <arrow/type.h>

#include "io/scan/scan_extent.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The format of scans that output the features of a split's records instead of rows: one
/// row per feature, with its name, kind, and whether it is a list.
inline constexpr char kTfRecordFeaturesFormat[] = "tfrecord_features";

OpenNode MakeTfRecordFeaturesScan();

/// The columns of the features in a sample or in all of a scan, in the order of first
/// appearance. A feature with exactly one value in every record that has it is a column
/// of values, others are lists. TypeError names a feature of two kinds, and their files.
arrow::Result<std::shared_ptr<arrow::Schema>> InferFeatures(const ScanNode& scan,
                                                            ScanExtent extent,
                                                            const RunPlan& run);

/// The types inferred from all records of a scan (a FindTypes).
arrow::Result<std::shared_ptr<arrow::Schema>> FindTfRecordTypes(const ScanNode& scan,
                                                                const RunPlan& run);

/// Describe the place of a feature by the byte of its record (a DescribePlace).
std::optional<std::string> DescribeTfRecordPlace(const ScanNode& scan,
                                                 const TypeMismatchLocation& place,
                                                 arrow::MemoryPool* pool);

}  // namespace xshards::io
