// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace xshards::python {

// One function per concept; each adds its classes and functions to the module.
void BindExpression(pybind11::module_& module);
void BindPayload(pybind11::module_& module);
void BindContext(pybind11::module_& module);
void BindShards(pybind11::module_& module);
void BindReaders(pybind11::module_& module);
void BindParameterServer(pybind11::module_& module);
void BindReplica(pybind11::module_& module);
void BindSchedule(pybind11::module_& module);
void BindWorker(pybind11::module_& module);
void BindFeed(pybind11::module_& module);

}  // namespace xshards::python
