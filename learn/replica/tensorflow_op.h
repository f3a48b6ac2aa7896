// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards::learn {

/// Add the operation XShardsStep to the TensorFlow of this process:
///
///     XShardsStep(window: int64, tensors: T) -> go_on: bool,  T: list(type)
///
/// `window` is the address of a StepWindow, which must live while functions with the
/// operation run; `tensors` are the gradients of a step, then buffers, then its values
/// (float32). It blocks the thread that runs it until the weights are updated. `go_on` is
/// false if no step may follow; StepWindow::status and outcome say why.
///
/// libtensorflow_framework.so.2 must be loaded. TensorFlow is called by its C interface,
/// found there by name: nothing is linked. Does nothing if the operation is there.
/// Invalid if TensorFlow is not loaded, NotImplemented if it lacks what is needed.
XSHARDS_EXPORT arrow::Status AddTensorFlowStep();

}  // namespace xshards::learn
