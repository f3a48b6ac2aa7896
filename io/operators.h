// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/export.h"

namespace xshards::io {

/// Add the scans and writers of this folder: csv, json, parquet, ipc.
XSHARDS_EXPORT void AddOperators(OperatorTable& table);

}  // namespace xshards::io
