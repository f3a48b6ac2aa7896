// SPDX-License-Identifier: Apache-2.0
#include "python/src/convert/tensor_array.h"

#include <utility>
#include <vector>

#include <arrow/buffer.h>

namespace xshards::python {

namespace py = pybind11;

py::array ToNumpy(const std::shared_ptr<void>& home, const learn::Tensor& tensor,
                  int64_t num_rows) {
  // Members are destroyed in reverse order: the buffer before the owner of its memory.
  using Owner = std::pair<std::shared_ptr<void>, std::shared_ptr<arrow::Buffer>>;
  const py::capsule base(new Owner(home, tensor.data),
                         [](void* pointer) { delete static_cast<Owner*>(pointer); });
  std::vector<py::ssize_t> shape = {num_rows};
  shape.insert(shape.end(), tensor.row.shape.begin(), tensor.row.shape.end());
  py::array array(py::dtype(learn::NumpyName(tensor.row.type)), std::move(shape),
                  tensor.data->data(), base);
  if (!tensor.data->is_mutable()) array.attr("flags").attr("writeable") = false;
  return array;
}

}  // namespace xshards::python
