// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/region/private_weights.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

#include <arrow/status.h>

#include "xshards/memory/huge_pages.h"

namespace xshards::learn {

PrivateWeights::PrivateWeights(std::shared_ptr<ParameterRegion> region, std::byte* data)
    : region_(std::move(region)), data_(data) {}

PrivateWeights::~PrivateWeights() {
  munmap(data_, static_cast<size_t>(region_->vector_bytes()));
}

arrow::Result<std::shared_ptr<PrivateWeights>> PrivateWeights::Map(
    std::shared_ptr<ParameterRegion> region) {
  void* data = MapForHugePages(region->vector_bytes(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE, region->fd(), region->weights_offset());
  if (data == MAP_FAILED) {
    return arrow::Status::IOError("Could not map ", region->vector_bytes(),
                                  " bytes of weights: ", std::strerror(errno));
  }
  return std::shared_ptr<PrivateWeights>(
      new PrivateWeights(std::move(region), static_cast<std::byte*>(data)));
}

void PrivateWeights::Refresh() const {
  madvise(data_, static_cast<size_t>(region_->vector_bytes()), MADV_DONTNEED);
}

}  // namespace xshards::learn
