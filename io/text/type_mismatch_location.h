// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include "io/text/text_input.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The TypeMismatchError() of a value, which may be empty if it is not to be shown.
arrow::Status TypeMismatchAt(std::string_view value, const std::string& column,
                             const std::string& path, TextPlace place);

/// Describe a place by its line number, in a scan of text files of one format. nullopt if
/// the scan does not read the file, or the file cannot be read.
std::optional<std::string> DescribeTextPlace(const ScanNode& scan,
                                             const TextFormat& format,
                                             const TypeMismatchLocation& place,
                                             arrow::MemoryPool* pool);

}  // namespace xshards::io
