// SPDX-License-Identifier: Apache-2.0
// Compiles simdjson as part of this library. It chooses the code for the processor at run
// time, so no flags are needed.
// clang-format off: the first header renames what the second defines
#include "io/json/simdjson_internal.h"
#include <simdjson.cpp>
