// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <pybind11/numpy.h>

#include "learn/ps/region/parameter_region.h"

namespace xshards::python {

/// Memory of `mapping` as an array, which keeps the mapping alive. No copy.
pybind11::array View(const std::shared_ptr<void>& mapping, const pybind11::dtype& dtype,
                     int64_t count, const void* data, bool writable);

/// One parameter's part of a flat vector in `mapping`, likewise. Raises IndexError if the
/// model has no such parameter.
pybind11::array ParameterView(const learn::ParameterRegion& region,
                              const std::shared_ptr<void>& mapping, std::byte* vector,
                              int64_t index, bool writable);
/// The same for a vector of the region itself.
pybind11::array ParameterView(const std::shared_ptr<learn::ParameterRegion>& region,
                              std::byte* vector, int64_t index, bool writable);

}  // namespace xshards::python
