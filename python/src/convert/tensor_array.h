// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <pybind11/numpy.h>

#include "learn/feed/tensor_block.h"

namespace xshards::python {

/// A numpy view of a tensor, which keeps `home`, the owner of its memory, alive. It is
/// writable if it was made for this batch only; a view of stored data is read-only.
pybind11::array ToNumpy(const std::shared_ptr<void>& home, const learn::Tensor& tensor,
                        int64_t num_rows);

}  // namespace xshards::python
