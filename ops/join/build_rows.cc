// SPDX-License-Identifier: Apache-2.0
#include "ops/join/build_rows.h"

#include <algorithm>

namespace xshards::ops {

void NumberRange::Include(const NumberRange& other) {
  least = std::min(least, other.least);
  greatest = std::max(greatest, other.greatest);
}

void NumberRange::Include(const JoinKeys& keys, size_t begin, size_t end) {
  // Local variables: the loop would write members in every iteration.
  NumberRange range;
  const bool any_missing = keys.any_missing();
  for (size_t row = begin; row < end; ++row) {
    if (any_missing && keys.is_missing(row)) continue;
    const auto number = static_cast<int64_t>(keys.word(row));
    range.least = std::min(range.least, number);
    range.greatest = std::max(range.greatest, number);
  }
  Include(range);
}

}  // namespace xshards::ops
