// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "learn/ps/client.h"
#include "learn/replica/step_window.h"
#include "learn/replica/tensorflow_op.h"
#include "python/src/bindings.h"
#include "python/src/convert/status_exception.h"

namespace xshards::python {

namespace py = pybind11;

using learn::StepWindow;

void BindReplica(py::module_& module) {
  py::class_<StepWindow>(module, "StepWindow")
      .def(py::init<learn::ReplicaClient*>(), py::arg("client"), py::keep_alive<1, 2>())
      .def_property_readonly(
          "address",
          [](const StepWindow& self) { return reinterpret_cast<int64_t>(&self); })
      .def(
          "begin",
          [](StepWindow& self, const std::string& head, std::vector<double> rows,
             std::vector<int32_t> parameters, int64_t buffer_bytes, int64_t num_values,
             int64_t loss) {
            Unwrap(self.Begin(head, std::move(rows), std::move(parameters), buffer_bytes,
                              num_values, loss));
          },
          py::arg("head"), py::arg("rows"), py::arg("parameters"),
          py::arg("buffer_bytes"), py::arg("num_values"), py::arg("loss"))
      .def("check", [](const StepWindow& self) { Unwrap(self.status()); })
      .def_property_readonly(
          "outcome", [](const StepWindow& self) { return ToString(self.outcome()); })
      .def_property_readonly("num_done", &StepWindow::num_done)
      .def_property_readonly("values",
                             [](const StepWindow& self) {
                               const auto values = self.values();
                               return py::array_t<float>(
                                   static_cast<py::ssize_t>(values.size()),
                                   values.data());
                             })
      .def_property_readonly("buffers", [](const StepWindow& self) {
        const auto bytes = self.buffers();
        return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      });
  module.def("add_tensorflow_step", [] { Unwrap(learn::AddTensorFlowStep()); });
}

}  // namespace xshards::python
