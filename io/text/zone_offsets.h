// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/exec.h>
#include <arrow/result.h>

namespace xshards::io {

/// How many seconds the zone of a column of times is ahead of UTC at each of them; 0
/// where there is none. NotImplemented names a time before the year 1 or behind 9999, of
/// which nobody knows it, pandas included, unless the zone is always so far from UTC.
arrow::Result<std::vector<int32_t>> ZoneOffsets(const arrow::TimestampArray& times,
                                                arrow::compute::ExecContext* context);

}  // namespace xshards::io
