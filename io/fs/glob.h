// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace xshards::io {

/// True if the text contains `*`, `?` or `[`.
bool HasWildcard(std::string_view text);

/// Match one name (no slashes) against a shell pattern: `*`, `?`, `[a-z]`, `[!a-z]`. A
/// name that starts with a dot is matched only by a pattern that does.
bool MatchName(std::string_view pattern, std::string_view name);

/// Match a path component by component; `**` matches any number of folders.
bool MatchPath(std::string_view pattern, std::string_view path);

}  // namespace xshards::io
