// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>
#include <optional>
#include <unistd.h>

#include <pybind11/pybind11.h>

namespace xshards::python {

/// Take the GIL by `take`. Python ends a thread that asks for it while the interpreter is
/// being finalised: with pthread_exit, which unwinds our frames and ends the process
/// where one of them must not throw. Such a thread waits here for the end of the process.
template <typename Take>
void TakeGil(const Take& take) {
  try {
    take();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
}

/// Gives the GIL up for as long as it lives.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    TakeGil([this] { PyEval_RestoreThread(state_); });
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* const state_;
};

/// Holds the GIL for as long as it lives, on any thread.
class AcquireGil {
 public:
  AcquireGil() {
    TakeGil([this] { held_.emplace(); });
  }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

 private:
  std::optional<pybind11::gil_scoped_acquire> held_;
};

}  // namespace xshards::python
