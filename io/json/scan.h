// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "xshards/execution/fragments/operator_table.h"

namespace xshards::io {

/// The executor of JSON scans. A split runs from the start of a record to the start of
/// another.
OpenNode MakeJsonScan();

}  // namespace xshards::io
