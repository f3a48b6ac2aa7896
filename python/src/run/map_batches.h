// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <pybind11/pybind11.h>

#include "xshards/execution/operator_table.h"
#include "xshards/plan/plan.h"
#include "xshards/storage/batch_stream.h"

namespace xshards::python {

/// Calls a Python function on consecutive pieces of at most `node.batch_rows` rows, one
/// at a time, so that no more than a piece of the input is in memory.
///
/// `call` is called as by MapPythonExecutor, with one payload. A payload that holds no
/// rows is first cut by `call.cut(payload, rows)`; what the function returns, other than
/// rows, is kept to the end and joined by `call.join(payloads)`.
arrow::Result<std::unique_ptr<BatchStream>> MakeMapBatches(
    const MapPythonNode& node, std::unique_ptr<BatchStream> input, pybind11::handle call,
    OperatorContext& context);

}  // namespace xshards::python
