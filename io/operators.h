// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "xshards/export.h"
#include "xshards/operator_table.h"

namespace xshards::io {

/// Add the scans and writers of this folder: csv, json, parquet, ipc.
XSHARDS_EXPORT void AddOperators(OperatorTable& table);

}  // namespace xshards::io
