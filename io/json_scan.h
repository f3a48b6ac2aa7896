// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/text_input.h"
#include "xshards/operator_table.h"

namespace xshards::io {

/// The executor of JSON scans. A split runs from the start of a line to the start of
/// another.
OpenNode MakeJsonScan();

/// The next block of whole lines; nullptr at the end. Tells `blocks` what it took.
arrow::Result<std::shared_ptr<arrow::Buffer>> NextLines(TextBlocks& blocks);

}  // namespace xshards::io
