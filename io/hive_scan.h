// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "io/file_listing.h"
#include "io/scan_stream.h"
#include "xshards/plan.h"

namespace xshards::io {

/// The columns that the folders of files name (see HiveValues), outermost first. Invalid
/// names a file whose folders differ from those of the others.
arrow::Result<arrow::FieldVector> HiveFields(const std::vector<InputFile>& files);

/// Add such columns to a scan of the files, behind their own. A column that the files
/// have themselves is left alone.
void AddHiveFields(const arrow::FieldVector& fields, ScanNode* scan);
/// Both at once.
arrow::Status AddHiveColumns(const std::vector<InputFile>& files, ScanNode* scan);

/// The schema of a scan without these columns: what is in the files themselves.
arrow::Result<std::shared_ptr<arrow::Schema>> FileSchema(const ScanNode& scan);
/// And the other way round: these columns, behind those of a file's schema.
arrow::Result<std::shared_ptr<arrow::Schema>> WithHiveFields(
    const std::shared_ptr<arrow::Schema>& files, const ScanNode& scan);

/// Make a scan that gives these columns too; a split whose values the scan's filter rules
/// out is not opened.
OpenSplit WithHiveColumns(OpenSplit open);

}  // namespace xshards::io
