// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/row_ranges.h"

#include <algorithm>

namespace xshards::io {

RowRanges Intersect(const RowRanges& left, const RowRanges& right) {
  RowRanges both;
  auto a = left.begin();
  auto b = right.begin();
  while (a != left.end() && b != right.end()) {
    const RowRange common{std::max(a->begin, b->begin), std::min(a->end, b->end)};
    if (common.begin < common.end) both.push_back(common);
    a->end < b->end ? ++a : ++b;
  }
  return both;
}

}  // namespace xshards::io
