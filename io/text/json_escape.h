// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace xshards::io {

/// Append text as a string of JSON, with its quotes.
void AppendJsonString(std::string_view value, std::string* out);

}  // namespace xshards::io
