// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <arrow/result.h>

#include "learn/ps/region/parameter_region.h"
#include "xshards/export.h"

namespace xshards::learn {

/// A copy-on-write view of the shared weights: writes go to private pages and no other
/// process sees them.
class XSHARDS_EXPORT PrivateWeights {
 public:
  static arrow::Result<std::shared_ptr<PrivateWeights>> Map(
      std::shared_ptr<ParameterRegion> region);
  ~PrivateWeights();
  PrivateWeights(const PrivateWeights&) = delete;
  PrivateWeights& operator=(const PrivateWeights&) = delete;

  const std::shared_ptr<ParameterRegion>& region() const { return region_; }
  std::byte* data() const { return data_; }

  /// Drop all private changes: the view shows the shared weights again.
  void Refresh() const;

 private:
  PrivateWeights(std::shared_ptr<ParameterRegion> region, std::byte* data);

  const std::shared_ptr<ParameterRegion> region_;
  std::byte* const data_;
};

}  // namespace xshards::learn
