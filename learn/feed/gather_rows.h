// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace xshards::learn {

/// Copy the given rows of `row_bytes` each from `source` to `target`, in the given order.
void GatherRows(const uint8_t* source, int64_t row_bytes, std::span<const uint32_t> rows,
                uint8_t* target);

}  // namespace xshards::learn
