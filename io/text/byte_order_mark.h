// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace xshards::io {

/// UTF-8's, with which some programs begin text files.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace xshards::io
