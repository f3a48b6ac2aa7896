// SPDX-License-Identifier: Apache-2.0
#include "python/src/convert/parameter_view.h"

#include "python/src/convert/status_exception.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

py::capsule KeepAlive(const std::shared_ptr<void>& mapping) {
  using Held = std::shared_ptr<void>;
  return {new Held(mapping), [](void* held) { delete static_cast<Held*>(held); }};
}

}  // namespace

py::array View(const std::shared_ptr<void>& mapping, const py::dtype& dtype,
               int64_t count, const void* data, bool writable) {
  py::array array(dtype, {count}, {dtype.itemsize()}, data, KeepAlive(mapping));
  if (!writable) array.attr("setflags")(py::arg("write") = false);
  return array;
}

py::array ParameterView(const learn::ParameterRegion& region,
                        const std::shared_ptr<void>& mapping, std::byte* vector,
                        int64_t index, bool writable) {
  Unwrap(region.CheckParameter(index));
  const auto& parameter = region.parameters()[static_cast<size_t>(index)];
  const bool is_single = parameter.type == learn::ParameterType::kFloat32;
  const auto dtype = is_single ? py::dtype::of<float>() : py::dtype::of<double>();
  return View(mapping, dtype, parameter.count, vector + parameter.offset, writable);
}

py::array ParameterView(const std::shared_ptr<learn::ParameterRegion>& region,
                        std::byte* vector, int64_t index, bool writable) {
  return ParameterView(*region, region, vector, index, writable);
}

}  // namespace xshards::python
