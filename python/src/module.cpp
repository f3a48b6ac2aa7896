// SPDX-License-Identifier: Apache-2.0
#include <arrow/python/pyarrow.h>
#include <pybind11/pybind11.h>

#include "python/src/bindings.h"
#include "python/src/convert/status_exception.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The engine of xshards. Private: use the package.";
  if (arrow::py::import_pyarrow() != 0) throw pybind11::error_already_set();
  xshards::python::TranslateExceptions();
  xshards::python::BindExpression(module);
  xshards::python::BindPayload(module);
  xshards::python::BindContext(module);
  xshards::python::BindShards(module);
  xshards::python::BindReaders(module);
  xshards::python::BindWorker(module);
  xshards::python::BindFeed(module);
  xshards::python::BindParameterServer(module);
  xshards::python::BindReplica(module);
  xshards::python::BindSchedule(module);
}
