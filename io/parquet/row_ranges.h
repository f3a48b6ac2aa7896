// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace xshards::io {

/// Rows of a row group, from `begin` to before `end`.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const RowRange&) const = default;
};

/// Ranges in ascending order that neither overlap nor touch.
using RowRanges = std::vector<RowRange>;

/// The rows that are in both.
RowRanges Intersect(const RowRanges& left, const RowRanges& right);

}  // namespace xshards::io
