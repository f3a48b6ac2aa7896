// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/payload.h"

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <arrow/table.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/convert/status_exception.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

using Leaf =
    std::tuple<std::string, std::vector<int64_t>, std::shared_ptr<arrow::Buffer>>;

arrow::Result<Payload> FromTable(const std::shared_ptr<arrow::Table>& table) {
  arrow::TableBatchReader reader(*table);
  ARROW_ASSIGN_OR_RAISE(auto batches, reader.ToRecordBatches());
  return Payload::Table(table->schema(), std::move(batches));
}

arrow::Result<Payload> FromLeaves(std::vector<Leaf> leaves,
                                  const std::string& structure) {
  std::vector<TensorLeaf> tensors;
  tensors.reserve(leaves.size());
  for (auto& [dtype, shape, data] : leaves) {
    tensors.push_back({std::move(dtype), std::move(shape), std::move(data)});
  }
  return Payload::Tensors(tensors, structure);
}

arrow::Result<std::vector<Leaf>> ToLeaves(const Payload& payload) {
  ARROW_ASSIGN_OR_RAISE(auto tensors, payload.tensor_leaves());
  std::vector<Leaf> leaves;
  leaves.reserve(tensors.size());
  for (auto& tensor : tensors) {
    leaves.emplace_back(std::move(tensor.dtype), std::move(tensor.shape),
                        std::move(tensor.data));
  }
  return leaves;
}

}  // namespace

void BindPayload(py::module_& module) {
  py::class_<Payload>(module, "Payload")
      .def_static("from_table",
                  [](const std::shared_ptr<arrow::Table>& table) {
                    return Unwrap(FromTable(table));
                  })
      .def_static("from_tensors",
                  [](std::vector<Leaf> leaves, const std::string& structure) {
                    return Unwrap(FromLeaves(std::move(leaves), structure));
                  })
      .def_static("from_object",
                  [](const std::shared_ptr<arrow::Buffer>& pickle,
                     const arrow::BufferVector& out_of_band) {
                    return Unwrap(Payload::Object(pickle, out_of_band));
                  })
      .def_property_readonly("kind",
                             [](const Payload& self) { return ToString(self.kind()); })
      .def_property_readonly("num_rows", &Payload::num_rows)
      .def(
          "table",
          [](const Payload& self) {
            return Unwrap(arrow::Table::FromRecordBatches(self.schema(), self.batches()));
          })
      .def("tensors",
           [](const Payload& self) {
             return py::make_tuple(Unwrap(ToLeaves(self)),
                                   Unwrap(self.tensor_structure()));
           })
      .def("object", [](const Payload& self) { return Unwrap(self.object_buffers()); });
}

}  // namespace xshards::python
