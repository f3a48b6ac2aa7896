// SPDX-License-Identifier: Apache-2.0
#include "python/src/run/action.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

#include "python/src/convert/gil.h"
#include "xshards/catch_exceptions.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

constexpr std::chrono::milliseconds kSlice{50};
constexpr std::chrono::seconds kMaxEnd{10};

/// The actions of this process, of all its Contexts.
struct RunningActions {
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::set<arrow::StopSource*> sources;
  bool ended = false;

  // Never destroyed: daemon threads use it until the process is gone. A forked child has
  // none of its parent's actions.
  static RunningActions& OfProcess() {
    static std::mutex guard;
    static std::map<pid_t, RunningActions*> of_process;
    std::lock_guard lock(guard);
    RunningActions*& running = of_process[getpid()];
    if (running == nullptr) running = new RunningActions;
    return *running;
  }
};

class WatchedAction {
 public:
  explicit WatchedAction(arrow::StopSource* source) : source_(source) {
    std::lock_guard lock(running_.mutex);
    is_refused_ = running_.ended;
    if (!is_refused_) running_.sources.insert(source_);
  }
  ~WatchedAction() {
    std::lock_guard lock(running_.mutex);
    running_.sources.erase(source_);
    running_.changed.notify_all();
  }
  WatchedAction(const WatchedAction&) = delete;
  WatchedAction& operator=(const WatchedAction&) = delete;
  bool is_refused() const { return is_refused_; }

 private:
  RunningActions& running_ = RunningActions::OfProcess();
  arrow::StopSource* const source_;
  bool is_refused_ = false;
};

arrow::Status LookAround(Context& context, const py::object& on_progress) {
  const AcquireGil acquire;
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
  const ReleaseGil release;
  arrow::StopSource source;
  const WatchedAction watched(&source);
  if (watched.is_refused()) {
    return arrow::Status::Cancelled("The interpreter is exiting");
  }
  arrow::Status failure;
  arrow::Status interrupted;
  std::mutex mutex;  // guards done
  std::condition_variable changed;
  bool done = false;

  const auto run = [&] {
    failure = CatchExceptions("Running an action", [&] {
      work(source.token());
      return arrow::Status::OK();
    });
    std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  };
  std::thread engine;
  ARROW_RETURN_NOT_OK(CatchExceptions("Starting an action", [&] {
    engine = std::thread(run);
    return arrow::Status::OK();
  }));
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
  ARROW_RETURN_NOT_OK(interrupted);
  return failure;
}

void EndActions() {
  const ReleaseGil release;
  RunningActions& running = RunningActions::OfProcess();
  std::unique_lock lock(running.mutex);
  running.ended = true;
  for (auto* source : running.sources) source->RequestStop();
  running.changed.wait_for(lock, kMaxEnd, [&] { return running.sources.empty(); });
}

}  // namespace xshards::python
