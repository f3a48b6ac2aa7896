// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/status.h>
#include <arrow/util/cancel.h>

#include "io/csv/options.h"
#include "io/text/text_input.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// Leave out the last `skipfooter` lines of every file, empty ones included, from a
/// scan's splits. The ends of files are read, of those that can only be read from the
/// start all.
arrow::Status DropFooters(const CsvOptions& options, const arrow::StopToken& stop,
                          arrow::MemoryPool* pool, ScanNode* scan);

/// The text of a split, without the footer.
arrow::Result<TextInput> OpenCsvText(const Split& split, const CsvOptions& options,
                                     const OptionMap& scan_options,
                                     arrow::MemoryPool* pool);

}  // namespace xshards::io
