// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/export.h"
#include "xshards/storage/partition.h"
#include "xshards/storage/payload.h"

namespace xshards {

// All partitions of a result.

/// The payloads of each partition. A partition without any is an empty table if the
/// others are tables of a common type. Polls `stop` before each partition.
XSHARDS_EXPORT arrow::Result<std::vector<std::vector<Payload>>> LoadAll(
    const std::vector<Partition>& partitions, const arrow::StopToken& stop);

/// The number of rows; of Tensors and Objects, as in Partition::num_rows().
XSHARDS_EXPORT int64_t NumRows(const std::vector<Partition>& partitions);

}  // namespace xshards
