// SPDX-License-Identifier: Apache-2.0
#include "xshards/context.h"

#include <memory>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/convert/gil.h"
#include "python/src/convert/status_exception.h"
#include "python/src/run/action.h"
#include "python/src/run/process_runner.h"
#include "python/src/run/python_thread_runner.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

std::shared_ptr<Context> MakeContext(int cores, int64_t memory_bytes,
                                     std::string spill_directory, py::object dispatcher,
                                     bool optimize) {
  ContextOptions options;
  options.cores = cores;
  options.memory_bytes = memory_bytes;
  options.spill_directory = std::move(spill_directory);
  options.optimize = optimize;
  options.python_thread_runner = std::make_shared<PythonThreadRunner>(
      cores, dispatcher.attr("call"), dispatcher.attr("call_on_empty"));
  options.python_runner = std::make_shared<ProcessRunner>(std::move(dispatcher));
  return Unwrap([&] {
    const ReleaseGil release;
    return Context::Make(std::move(options));
  }());
}

py::dict Describe(const StageProfile& stage) {
  py::dict described;
  described["label"] = stage.label;
  described["runner"] = stage.runner;
  described["partitions"] = stage.num_fragments;
  described["rows_read"] = stage.metrics.rows_read;
  described["bytes_read"] = stage.metrics.bytes_read;
  described["row_groups_skipped"] = stage.metrics.row_groups_skipped;
  described["rows_out"] = stage.metrics.rows_out;
  described["bytes_out"] = stage.metrics.bytes_out;
  described["bytes_written"] = stage.metrics.bytes_written;
  described["seconds"] = stage.wall_seconds;
  described["busy_seconds"] = stage.metrics.seconds;
  described["spilled_bytes"] = stage.spilled_bytes;
  described["begin_ns"] = stage.begin_ns;
  described["notes"] = py::tuple(py::cast(stage.notes));
  py::list spans;
  for (const FragmentSpan& span : stage.spans) {
    spans.append(py::make_tuple(span.index, span.begin_ns, span.end_ns, span.process,
                                span.thread));
  }
  described["spans"] = py::tuple(spans);
  return described;
}

}  // namespace

void BindContext(py::module_& module) {
  module.def("end_actions", &EndActions);
  py::class_<Context, std::shared_ptr<Context>>(module, "Context")
      .def_static("make", &MakeContext)
      .def_property_readonly("cores", &Context::cores)
      .def_property_readonly("memory_bytes", &Context::memory_bytes)
      .def_property_readonly("spill_directory", &Context::spill_directory)
      .def_property_readonly("used_bytes",
                             [](Context& self) { return self.budget().used(); })
      .def_property_readonly("peak_bytes",
                             [](Context& self) { return self.budget().peak(); })
      .def("count_bytes", [](Context& self, int64_t bytes) { self.budget().Add(bytes); })
      .def("last_profile",
           [](const Context& self) {
             const Profile profile = self.last_profile();
             py::list stages;
             for (const StageProfile& stage : profile.stages) {
               stages.append(Describe(stage));
             }
             return py::make_tuple(stages, profile.wall_seconds, profile.begin_ns);
           })
      .def("bad_lines",
           [](const Context& self) {
             const Profile profile = self.last_profile();
             const FragmentMetrics total = profile.Total();
             return py::make_tuple(total.bad_lines, MessageText(total.first_bad_line),
                                   profile.begin_ns);
           })
      .def("release_idle",
           [](Context& self) {
             const ReleaseGil release;
             return self.storage().segments->ReleaseIdle();
           })
      .def("spill_all", [](Context& self) {
        Unwrap([&] {
          const ReleaseGil release;
          return self.SpillAll();
        }());
      });
}

}  // namespace xshards::python
