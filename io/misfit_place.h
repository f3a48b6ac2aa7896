// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include "io/text_input.h"
#include "xshards/plan.h"

namespace xshards::io {

/// The Misfit() of a value, which may be empty where it is not to be shown. Names the
/// place by bytes: most misfits are never shown, and to count lines costs time.
arrow::Status MisfitAt(std::string_view value, const std::string& column,
                       const std::string& path, TextPlace place);

/// What MisfitAt() said, by the number of the line (a DescribePlace).
std::string DescribeCsvPlace(const ScanNode& scan, const std::string& place,
                             arrow::MemoryPool* pool);
std::string DescribeJsonPlace(const ScanNode& scan, const std::string& place,
                              arrow::MemoryPool* pool);

}  // namespace xshards::io
