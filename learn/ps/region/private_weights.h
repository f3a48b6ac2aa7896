// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <arrow/result.h>

#include "learn/ps/region/parameter_region.h"
#include "xshards/export.h"

namespace xshards::learn {

/// The shared weights in memory that may be written to without harm: what is changed in
/// place, the kernel copies, and nobody else sees.
class XSHARDS_EXPORT PrivateWeights {
 public:
  static arrow::Result<std::shared_ptr<PrivateWeights>> Map(
      std::shared_ptr<ParameterRegion> region);
  ~PrivateWeights();
  PrivateWeights(const PrivateWeights&) = delete;
  PrivateWeights& operator=(const PrivateWeights&) = delete;

  const std::shared_ptr<ParameterRegion>& region() const { return region_; }
  std::byte* data() const { return data_; }

  /// Forget what was changed: these are the shared weights again.
  void Refresh() const;

 private:
  PrivateWeights(std::shared_ptr<ParameterRegion> region, std::byte* data);

  const std::shared_ptr<ParameterRegion> region_;
  std::byte* const data_;
};

}  // namespace xshards::learn
