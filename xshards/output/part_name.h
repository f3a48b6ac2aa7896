// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "xshards/export.h"

namespace xshards {

/// The name of a partition's file, such as part-00003.csv.
XSHARDS_EXPORT std::string PartName(int64_t number, const std::string& format);
/// The number after part- in a file's name; -1 if there is none.
XSHARDS_EXPORT int64_t PartNumber(const std::string& name);
/// The name of a part with another number, followed by a mark: part-00003-mark.csv.
XSHARDS_EXPORT std::string RenumberPart(const std::string& name, int64_t number,
                                        const std::string& mark = "");

}  // namespace xshards
