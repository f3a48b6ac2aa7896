// SPDX-License-Identifier: Apache-2.0
#include "python/src/run/action.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace xshards::python {

namespace py = pybind11;

namespace {

constexpr std::chrono::milliseconds kSlice{50};

arrow::Status LookAround(Context& context, const py::object& on_progress) {
  py::gil_scoped_acquire acquire;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!on_progress.is_none()) {
      const Progress::Snapshot now = context.progress().Get();
      on_progress(now.stage, now.label, now.done, now.total);
    }
  } catch (py::error_already_set& error) {
    return ToStatus(error);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status WatchWork(Context& context, const py::object& on_progress,
                        const std::function<void(const arrow::StopToken&)>& work) {
  py::gil_scoped_release release;
  arrow::StopSource source;
  arrow::Status interrupted;
  std::mutex mutex;  // guards done
  std::condition_variable changed;
  bool done = false;

  std::thread engine([&] {
    work(source.token());
    std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, kSlice, [&] { return done; })) {
    if (!interrupted.ok()) continue;
    lock.unlock();
    interrupted = LookAround(context, on_progress);
    if (!interrupted.ok()) source.RequestStop();
    lock.lock();
  }
  lock.unlock();
  engine.join();
  return interrupted;
}

}  // namespace xshards::python
