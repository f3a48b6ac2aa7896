// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/csv_options.h"
#include "io/text_input.h"

namespace xshards::io {

/// How the bytes of a CSV file become text.
TextFormat ToTextFormat(const CsvOptions& options);

}  // namespace xshards::io
