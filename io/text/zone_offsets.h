// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/exec.h>
#include <arrow/result.h>

namespace xshards::io {

/// The UTC offset in seconds of a column's zone at each of its times; 0 without a zone.
/// NotImplemented names a time before the year 1 or after 9999, for which the offset is
/// unknown, to pandas too, unless the zone is a fixed offset.
arrow::Result<std::vector<int32_t>> ZoneOffsets(const arrow::TimestampArray& times,
                                                arrow::compute::ExecContext* context);

}  // namespace xshards::io
