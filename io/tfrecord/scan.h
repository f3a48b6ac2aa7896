// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "xshards/execution/fragments/operator_table.h"

namespace xshards::io {

/// The name of the only column if records are not decoded.
inline constexpr char kRawRecordColumn[] = "record";

/// The executor of TFRecord scans. A split is a range of bytes, cut between records.
OpenNode MakeTfRecordScan();

}  // namespace xshards::io
