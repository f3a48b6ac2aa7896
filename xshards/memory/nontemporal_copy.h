// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "xshards/export.h"

namespace xshards {

/// Copy bytes that nobody will look at soon: past the caches where the machine can, which
/// saves reading what is overwritten. The ranges must not overlap.
XSHARDS_EXPORT void StreamCopy(uint8_t* to, const uint8_t* from, size_t num_bytes);

}  // namespace xshards
