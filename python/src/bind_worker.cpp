// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/fragment_worker.h"
#include "python/src/process_runner.h"
#include "python/src/pyarrow_caster.h"
#include "python/src/status_exception.h"

namespace xshards::python {

namespace py = pybind11;

void BindWorker(py::module_& module) {
  // Keeps the segments of a result open until they have been sent.
  py::class_<Encoded>(module, "EncodedResult")
      .def_property_readonly("bytes", [](const Encoded& self) { return self.bytes; })
      .def_property_readonly("segments", [](const Encoded& self) {
        return DescribeSegments(self.segments);
      });

  py::class_<FragmentWorker>(module, "FragmentWorker")
      .def(py::init(
          [](const std::string& spill_directory, int64_t memory_bytes, py::object call) {
            return Unwrap(
                FragmentWorker::Make(spill_directory, memory_bytes, std::move(call)));
          }))
      .def("run", [](FragmentWorker& self, const std::shared_ptr<arrow::Buffer>& bytes,
                     const py::iterable& described) {
        const auto segments = Unwrap(AdoptSegments(described));
        return Unwrap([&] {
          py::gil_scoped_release release;
          return self.Run(bytes, segments);
        }());
      });
}

}  // namespace xshards::python
