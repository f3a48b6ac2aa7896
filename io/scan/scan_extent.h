// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "io/options/option_map.h"

namespace xshards::io {

/// How much of each split a scan for types looks at: what is in its first block, or all.
enum class ScanExtent : uint8_t { kSample, kWhole };

inline constexpr char kExtentOption[] = "extent";  // absent: all

inline void SetExtent(ScanExtent extent, OptionMap* options) {
  if (extent == ScanExtent::kSample) (*options)[kExtentOption] = "sample";
}
inline ScanExtent GetExtent(const OptionMap& options) {
  return options.contains(kExtentOption) ? ScanExtent::kSample : ScanExtent::kWhole;
}

}  // namespace xshards::io
