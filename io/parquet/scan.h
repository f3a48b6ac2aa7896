// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "xshards/execution/fragments/operator_table.h"

namespace xshards::io {

/// The executor of Parquet scans. A split is a range of row groups.
OpenNode MakeParquetScan();

}  // namespace xshards::io
