// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "io/fs/file_listing.h"
#include "io/scan/scan_stream.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The columns that the folders of files name (see HiveValues), outermost first. Invalid
/// names a file whose folders differ from those of the others.
arrow::Result<arrow::FieldVector> HiveFields(const std::vector<InputFile>& files);

/// Add such columns to a scan of the files, behind their own. A column that the files
/// have themselves (`own`) is left alone. Where the schema was asked for, only columns
/// that it has are added, in its types.
void AddHiveFields(const arrow::FieldVector& found, const std::set<std::string>& own,
                   bool schema_was_asked, ScanNode* scan);
/// The same where the scan's schema is the files' own.
void AddHiveFields(const arrow::FieldVector& found, ScanNode* scan);

/// The schema of a scan without these columns: what is in the files themselves.
arrow::Result<std::shared_ptr<arrow::Schema>> FileSchema(const ScanNode& scan);
/// And the other way round: these columns, behind those of a file's schema.
arrow::Result<std::shared_ptr<arrow::Schema>> WithHiveFields(
    const std::shared_ptr<arrow::Schema>& files, const ScanNode& scan);

/// Make a scan that gives these columns too; a split whose values the scan's filter rules
/// out is not opened.
OpenSplit WithHiveColumns(OpenSplit open);

}  // namespace xshards::io
