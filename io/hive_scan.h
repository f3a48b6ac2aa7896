// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "io/file_listing.h"
#include "io/scan_stream.h"
#include "xshards/plan.h"

namespace xshards::io {

/// Add the columns that the folders of files name (see HiveValues) to a scan of the
/// files, behind their own. A column that the files have themselves (`own`) is left
/// alone. Where the schema was asked for, only columns that it has are added, in its
/// types. Invalid names a file whose folders differ from those of the others.
arrow::Status AddHiveColumns(const std::vector<InputFile>& files,
                             const std::set<std::string>& own, bool schema_was_asked,
                             ScanNode* scan);

/// Make a scan that gives these columns too; a split whose values the scan's filter rules
/// out is not opened.
OpenSplit WithHiveColumns(OpenSplit open);

}  // namespace xshards::io
