// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <pybind11/pybind11.h>

#include "xshards/execution/fragments/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::python {

/// Calls a Python function on consecutive batches of at most `node.batch_rows` rows, one
/// at a time, so that only one batch of the input is in memory.
///
/// `call` is called as by MapPythonExecutor, with one payload. A payload other than a
/// Table is first split by `call.cut(payload, rows)`; returned payloads other than Tables
/// are kept to the end and combined by `call.join(payloads)`.
arrow::Result<std::unique_ptr<BatchStream>> MakeMapBatches(
    const MapPythonNode& node, std::unique_ptr<BatchStream> input, pybind11::handle call,
    OperatorContext& context);

}  // namespace xshards::python
