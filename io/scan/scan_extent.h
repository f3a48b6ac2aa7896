// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace xshards::io {

/// How much of each split a type inference scan reads: its first block, or all.
enum class ScanExtent : uint8_t { kSample, kWhole };

constexpr ScanExtent LastValue(ScanExtent) { return ScanExtent::kWhole; }

}  // namespace xshards::io
