// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/csv/parse/tokenizer.h"

namespace xshards::io {

/// The number of bytes that CopyUnquoted may read after a field and write after its
/// value.
inline constexpr size_t kUnquotePadding = 64;

/// Copy the value of a field that begins with a quote to `out` and return its end there:
/// without the quotes around it; inside, two quotes become one; text after the closing
/// quote is copied unchanged. `out` has room for the field and kUnquotePadding bytes, and
/// as many may be read after the field.
using CopyUnquoted = char* (*)(const char* field, size_t size, char quote, char* out);

/// The copy of a supported target.
CopyUnquoted CsvUnquoter(CsvTarget target);

// One for each file unquote_<target>.cc.
char* CopyUnquotedBaseline(const char* field, size_t size, char quote, char* out);
#ifdef __x86_64__
char* CopyUnquotedAvx512(const char* field, size_t size, char quote, char* out);
#endif

}  // namespace xshards::io
