// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one include of the C++ dataframe API. With default_operators.cc, the only file of
// core that includes higher layers.

#include "io/csv/for_each_row.h"
#include "io/readers.h"
#include "io/writers.h"
#include "xshards/context.h"
#include "xshards/expression/expression.h"
#include "xshards/function/native_function.h"
#include "xshards/function/shard_view.h"
#include "xshards/function/tensor_view.h"
#include "xshards/shards.h"
