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

/// The Misfit() of a value, which may be empty where it is not to be shown.
arrow::Status MisfitAt(std::string_view value, const std::string& column,
                       const std::string& path, TextPlace place);

/// The place by the number of its line (a DescribePlace).
std::optional<std::string> DescribeCsvPlace(const ScanNode& scan,
                                            const MisfitPlace& place,
                                            arrow::MemoryPool* pool);
std::optional<std::string> DescribeJsonPlace(const ScanNode& scan,
                                             const MisfitPlace& place,
                                             arrow::MemoryPool* pool);

}  // namespace xshards::io
