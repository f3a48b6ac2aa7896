// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/cancel.h>

#include "io/csv/scan_options.h"
#include "io/text/text_input.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// Leave out the last `skipfooter` lines of every file, empty ones included, from the
/// splits of a scan. The ends of files are read, of those that can only be read from the
/// start all.
arrow::Status DropFooters(const arrow::StopToken& stop, arrow::MemoryPool* pool,
                          CsvScanOptions* scan, std::vector<Split>* splits);

/// The text of a split, without the footer.
arrow::Result<TextInput> OpenCsvText(const Split& split, const CsvScanOptions& scan,
                                     arrow::MemoryPool* pool);

}  // namespace xshards::io
