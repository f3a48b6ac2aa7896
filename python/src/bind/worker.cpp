// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/convert/gil.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/convert/status_exception.h"
#include "python/src/run/fragment_worker.h"
#include "python/src/run/process_runner.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

/// An array over lent memory, which it keeps alive.
py::array WritableBytes(const PrivateMemory::Loan& loan, int64_t size) {
  using Owner = std::shared_ptr<arrow::Buffer>;
  py::capsule owner(new Owner(loan.owner),
                    [](void* held) { delete static_cast<Owner*>(held); });
  return py::array(py::dtype::of<uint8_t>(), {size}, {1}, loan.data, owner);
}

}  // namespace

void BindWorker(py::module_& module) {
  // Keeps the segments of a result open until they have been sent.
  py::class_<Encoded>(module, "EncodedResult")
      .def_property_readonly("bytes", [](const Encoded& self) { return self.bytes; })
      .def_property_readonly("segments", [](const Encoded& self) {
        return DescribeSegments(std::span(self.segments).subspan(self.num_known));
      });

  py::class_<FragmentWorker>(module, "FragmentWorker")
      .def(py::init(
          [](const std::string& spill_directory, int64_t memory_bytes, py::object call) {
            return Unwrap(
                FragmentWorker::Make(spill_directory, memory_bytes, std::move(call)));
          }))
      .def("run",
           [](FragmentWorker& self, const std::shared_ptr<arrow::Buffer>& bytes,
              const py::iterable& described) {
             auto segments = Unwrap(
                 AdoptSegments(described, [](SegmentKind kind, int fd, int64_t size) {
                   return Segment::Adopt(kind, fd, size, SegmentMapping::kPrivate);
                 }));
             return Unwrap([&] {
               const ReleaseGil release;
               return self.Run(bytes, std::move(segments));
             }());
           })
      .def("lend",
           [](FragmentWorker& self, const std::shared_ptr<arrow::Buffer>& buffer)
               -> std::optional<std::pair<py::array, uintptr_t>> {
             auto loan = self.Lend(*buffer);
             if (!loan.has_value()) return std::nullopt;
             return std::pair(WritableBytes(*loan, buffer->size()), loan->block);
           });
}

}  // namespace xshards::python
