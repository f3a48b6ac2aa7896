// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards::io {

/// Names as error messages list them: 'a', 'b'. Long lists end in "... (n in total)".
std::string QuotedNames(const std::vector<std::string>& names);

/// Invalid names an option that is not among the known ones, and lists those. `owner` is
/// what has the options: "read_csv".
XSHARDS_EXPORT arrow::Status CheckOptionName(const std::string& name,
                                             const std::vector<std::string>& known,
                                             const std::string& owner);

}  // namespace xshards::io
