// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace xshards::io {

/// Return whether `c` is one of 0 to 9, in any locale.
inline bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace xshards::io
