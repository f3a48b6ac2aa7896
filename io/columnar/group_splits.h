// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/status.h>

#include "xshards/plan/plan.h"

namespace xshards::io {

/// A row group or record batch: the smallest unit of a file that can be read.
struct Group {
  int64_t num_bytes = 0;
  int64_t num_rows = -1;  // -1: not known
};

/// First row of part `part` when `num_rows` rows are split evenly.
int64_t PartBegin(int64_t num_rows, int64_t part, int64_t num_parts);

/// The number of parts for each group, so that no part is much larger than
/// `target_bytes`, nor has so few rows that skipping those before it would matter.
int64_t PartsOfGroups(const std::vector<Group>& groups, int64_t target_bytes);

/// Cut each group into parts, which are then treated as groups.
std::vector<Group> CutIntoParts(const std::vector<Group>& groups, int64_t num_parts);

/// IOError that names the file if a split refers to groups that the file does not have.
arrow::Status CheckGroups(const Split& split, int64_t num_groups);

/// Cut a file's groups into splits of about `target_bytes`, each of complete groups; at
/// least one split, empty for a file without groups.
std::vector<Split> CutGroups(const std::string& path, const std::vector<Group>& groups,
                             int64_t target_bytes);

}  // namespace xshards::io
