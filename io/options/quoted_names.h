// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace xshards::io {

/// Names as error messages list them: 'a', 'b'. Long lists end in "... (n in all)".
std::string QuotedNames(const std::vector<std::string>& names);

}  // namespace xshards::io
