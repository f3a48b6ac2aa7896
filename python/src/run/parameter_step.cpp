// SPDX-License-Identifier: Apache-2.0
#include "python/src/run/parameter_step.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "python/src/convert/gil.h"
#include "python/src/convert/status_exception.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

using std::chrono::nanoseconds;

nanoseconds Nanoseconds(double seconds) {
  seconds = std::clamp(seconds, 0.0, 1e9);  // infinity has no nanoseconds
  return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(seconds));
}

/// Call `attempt(slice)` until `timed_out(result)` is false or the seconds are over, with
/// a look for Ctrl-C now and then.
template <typename TimedOut, typename Attempt>
auto WaitInterruptibly(double seconds, TimedOut timed_out, Attempt attempt) {
  const auto deadline = std::chrono::steady_clock::now() + Nanoseconds(seconds);
  while (true) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto slice =
        std::clamp<nanoseconds>(left, nanoseconds(0), std::chrono::milliseconds(100));
    auto result = Unwrap([&] {
      const ReleaseGil release;
      return attempt(slice);
    }());
    if (timed_out(result) && left > slice) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      continue;
    }
    return result;
  }
}

bool IsTimeout(const learn::StepReport& report) {
  return report.outcome == learn::StepOutcome::kTimeout;
}

}  // namespace

learn::StepReport Step(learn::ParameterServer& server, double timeout) {
  return WaitInterruptibly(timeout, IsTimeout,
                           [&](nanoseconds slice) { return server.Step(slice); });
}

learn::StepReport AwaitGradients(learn::ParameterServer& server, double timeout) {
  return WaitInterruptibly(timeout, IsTimeout,
                           [&](nanoseconds slice) { return server.Await(slice); });
}

learn::StepReport StepWhile(learn::ParameterServer& server, const py::buffer& word,
                            uint64_t seen, double seconds, double patience) {
  const py::buffer_info info = word.request();
  if (info.itemsize != sizeof(uint64_t) || info.size < 1) {
    Unwrap(arrow::Status::Invalid("Expected 8 bytes to watch, got ",
                                  info.itemsize * info.size));
  }
  const std::atomic_ref<uint64_t> value(*static_cast<uint64_t*>(info.ptr));
  return Unwrap([&] {
    const ReleaseGil release;
    return server.StepWhile([&] { return value.load() == seen; }, Nanoseconds(seconds),
                            Nanoseconds(patience));
  }());
}

learn::WaitOutcome Wait(learn::ReplicaClient& client, double timeout) {
  return WaitInterruptibly(
      timeout,
      [](learn::WaitOutcome outcome) { return outcome == learn::WaitOutcome::kTimeout; },
      [&](nanoseconds slice) { return client.Wait(slice); });
}

}  // namespace xshards::python
