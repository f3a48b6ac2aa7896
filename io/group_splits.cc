// SPDX-License-Identifier: Apache-2.0
#include "io/group_splits.h"

#include <algorithm>
#include <numeric>

#include "io/split_size.h"

namespace xshards::io {

std::vector<Split> CutGroups(const std::string& path, const std::vector<Group>& groups,
                             int64_t target_bytes) {
  const int64_t total =
      std::accumulate(groups.begin(), groups.end(), int64_t{0},
                      [](int64_t sum, const Group& g) { return sum + g.num_bytes; });
  const int64_t count = NumPieces(total, target_bytes);
  std::vector<Split> splits;
  Split split{.path = path, .num_rows = 0};
  int64_t bytes_before = 0;  // of the groups before this one
  for (size_t i = 0; i < groups.size(); ++i) {
    // A split ends where its share of the bytes is nearest.
    const auto done = static_cast<int64_t>(splits.size());
    const int64_t share_end = total / count * (done + 1);
    const int64_t middle = bytes_before + groups[i].num_bytes / 2;
    if (split.end > split.begin && done + 1 < count && middle > share_end) {
      splits.push_back(split);
      split = {.path = path, .begin = split.end, .end = split.end, .num_rows = 0};
    }
    split.end = static_cast<int64_t>(i) + 1;
    split.num_bytes += groups[i].num_bytes;
    const bool known = split.num_rows >= 0 && groups[i].num_rows >= 0;
    split.num_rows = known ? split.num_rows + groups[i].num_rows : -1;
    bytes_before += groups[i].num_bytes;
  }
  splits.push_back(split);
  return splits;
}

}  // namespace xshards::io
