// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "xshards/execution/fragments/operator_table.h"

namespace xshards::python {

/// The executor of MapPython nodes: reads its complete input and calls `call(hash,
/// format, partition_index, payloads)`, which returns the payloads of the output. For
/// nodes with batch_rows see map_batches.h. `call` is borrowed: it must outlive the
/// running fragments.
OpenNode MapPythonExecutor(pybind11::handle call);

}  // namespace xshards::python
