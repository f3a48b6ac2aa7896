// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xshards/plan/plan.h"

namespace xshards::io {

/// A row group or record batch: the least that can be read of a file that has them.
struct Group {
  int64_t num_bytes = 0;
  int64_t num_rows = -1;  // -1: not known
};

/// The first row of a part, of several as equal as can be, of so many rows.
int64_t PartBegin(int64_t num_rows, int64_t part, int64_t num_parts);

/// How many parts to cut all groups into, so that none is much larger than
/// `target_bytes`, nor of so few rows that passing over those before it would count.
int64_t PartsOfGroups(const std::vector<Group>& groups, int64_t target_bytes);

/// Cut each group into parts, as if these were groups.
std::vector<Group> CutIntoParts(const std::vector<Group>& groups, int64_t num_parts);

/// Cut a file's groups into splits of about `target_bytes`, each of whole groups; at
/// least one split, empty for a file without groups.
std::vector<Split> CutGroups(const std::string& path, const std::vector<Group>& groups,
                             int64_t target_bytes);

}  // namespace xshards::io
