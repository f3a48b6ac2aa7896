// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "io/fs/file_listing.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// Drop empty splits, but keep one if all are empty: a plan has at least one partition.
void DropEmptySplits(std::vector<Split>* splits);

/// Cut [data_begin, size) of a file at ascending positions.
std::vector<Split> CutAt(const InputFile& file, int64_t data_begin,
                         const std::vector<int64_t>& starts);

}  // namespace xshards::io
