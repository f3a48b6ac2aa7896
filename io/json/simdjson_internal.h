// SPDX-License-Identifier: Apache-2.0
#pragma once

// simdjson in a separate namespace: libarrow and libparquet export other versions under
// the usual names, which the dynamic linker would mix with ours. Without exceptions:
// functions return error codes.
#define simdjson xshards_simdjson
#define SIMDJSON_EXCEPTIONS 0

#include <simdjson.h>  // IWYU pragma: export
