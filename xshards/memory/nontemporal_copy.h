// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "xshards/export.h"

namespace xshards {

/// Copy bytes that will not be read soon: past the caches if the machine can, which saves
/// reading the overwritten lines. The ranges must not overlap.
XSHARDS_EXPORT void StreamCopy(uint8_t* to, const uint8_t* from, size_t num_bytes);

}  // namespace xshards
