// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace xshards::io {

/// How many bytes behind a field CopyUnquoted may read, and behind its value write.
inline constexpr size_t kUnquotePadding = 32;

/// Copy the value of a field that begins with a quote to `out` and return where it ends
/// there: without the quotes around it; inside, the second of two quotes stands for both;
/// what follows the closing quote is taken as it is. `out` has room for the field and
/// kUnquotePadding bytes, and as many may be read behind the field.
char* CopyUnquoted(std::string_view field, char quote, char* out);

}  // namespace xshards::io
