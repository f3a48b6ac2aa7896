// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>
#include <pybind11/pybind11.h>

namespace xshards::python {

/// Raise a failed Status as a Python exception: the one that a Python function raised,
/// unchanged, or the class of xshards.errors for its code. The only place that throws.
/// The GIL must be held.
void Unwrap(const arrow::Status& status);

/// A message as text. Some quote the contents of files, which may be any bytes.
pybind11::str MessageText(std::string_view message);

/// The value, or raise as above.
template <typename T>
T Unwrap(arrow::Result<T> result) {
  Unwrap(result.status());
  return result.MoveValueUnsafe();
}

/// Raise XShardsMemoryError for std::bad_alloc that leaves a bound function.
void TranslateExceptions();

/// Carry a caught Python exception through the engine; what was a TypeMismatchError()
/// becomes one again. The GIL must be held.
arrow::Status ToStatus(pybind11::error_already_set& error);

}  // namespace xshards::python
