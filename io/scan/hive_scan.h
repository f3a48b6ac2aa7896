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

/// Add such columns to a scan of the files, after the files' own. A column that the files
/// already have (`own`) is not added. If the user gave the schema, only columns of that
/// schema are added, in its types.
void AddHiveFields(const arrow::FieldVector& found, const std::set<std::string>& own,
                   bool schema_was_asked, ScanNode* scan);
/// The same if the scan's schema is that of the files.
void AddHiveFields(const arrow::FieldVector& found, ScanNode* scan);

/// The schema of a scan without these columns: that of the files.
std::shared_ptr<arrow::Schema> FileSchema(const ScanNode& scan);
/// The reverse: a file's schema followed by these columns.
std::shared_ptr<arrow::Schema> WithHiveFields(const std::shared_ptr<arrow::Schema>& files,
                                              const ScanNode& scan);

/// Make a scan that includes these columns; a split whose values the scan's filter
/// excludes is not opened.
OpenSplit WithHiveColumns(OpenSplit open);

}  // namespace xshards::io
