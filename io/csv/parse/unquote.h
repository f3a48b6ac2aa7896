// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/csv/parse/tokenizer.h"

namespace xshards::io {

/// How many bytes behind a field CopyUnquoted may read, and behind its value write.
inline constexpr size_t kUnquotePadding = 64;

/// Copy the value of a field that begins with a quote to `out` and return where it ends
/// there: without the quotes around it; inside, the second of two quotes stands for both;
/// what follows the closing quote is taken as it is. `out` has room for the field and
/// kUnquotePadding bytes, and as many may be read behind the field.
using CopyUnquoted = char* (*)(const char* field, size_t size, char quote, char* out);

/// The copy of a supported target.
CopyUnquoted CsvUnquoter(CsvTarget target);

// One for each file csv_unquote_<target>.cc.
char* CopyUnquotedBaseline(const char* field, size_t size, char quote, char* out);
#ifdef __x86_64__
char* CopyUnquotedAvx512(const char* field, size_t size, char quote, char* out);
#endif

}  // namespace xshards::io
