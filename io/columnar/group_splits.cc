// SPDX-License-Identifier: Apache-2.0
#include "io/columnar/group_splits.h"

#include <algorithm>
#include <numeric>

#include "io/fs/file_system.h"
#include "io/options/split_size.h"

namespace xshards::io {
namespace {

// Skipping the rows before a part costs little per page, of usually some 20,000 rows, but
// their bytes are read.
constexpr int64_t kMinPartRows = 100'000;
constexpr int64_t kMaxParts = 8;

}  // namespace

int64_t PartBegin(int64_t num_rows, int64_t part, int64_t num_parts) {
  return num_rows / num_parts * part + num_rows % num_parts * part / num_parts;
}

int64_t PartsOfGroups(const std::vector<Group>& groups, int64_t target_bytes) {
  int64_t num_parts = 1;
  for (const auto& group : groups) {
    const int64_t wanted = NumPieces(group.num_bytes, target_bytes);
    num_parts =
        std::max(num_parts, std::min({wanted, group.num_rows / kMinPartRows, kMaxParts}));
  }
  return num_parts;
}

std::vector<Group> CutIntoParts(const std::vector<Group>& groups, int64_t num_parts) {
  std::vector<Group> parts;
  for (const auto& group : groups) {
    for (int64_t i = 0; i < num_parts; ++i) {
      const auto share = [&](int64_t total) {
        return PartBegin(total, i + 1, num_parts) - PartBegin(total, i, num_parts);
      };
      parts.push_back(
          {.num_bytes = share(group.num_bytes), .num_rows = share(group.num_rows)});
    }
  }
  return parts;
}

arrow::Status CheckGroups(const Split& split, int64_t num_groups) {
  if (split.begin >= 0 && split.begin <= split.end && split.end <= num_groups) {
    return arrow::Status::OK();
  }
  return WithPath(
      arrow::Status::IOError("Expected row groups, record batches or stripes ",
                             split.begin, " to ", split.end, ", as when its reading was ",
                             "planned; the file has ", num_groups),
      "Could not read", split.path);
}

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
    // A split ends at the group boundary nearest to its share of the bytes.
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
