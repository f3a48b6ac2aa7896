// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/csv/options.h"
#include "io/text/text_input.h"

namespace xshards::io {

/// How the bytes of a CSV file are decoded.
TextFormat ToTextFormat(const CsvOptions& options);

/// The number of bytes by which a text advances positions in a CSV file.
int64_t FileBytes(std::string_view text, const std::string& path,
                  const CsvOptions& options);

}  // namespace xshards::io
