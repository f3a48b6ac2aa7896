// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#if XSHARDS_USE_TBB
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#else
#include <thread>
#endif

#include "xshards/catch_exceptions.h"
#include "xshards/execution/fragments/runner.h"
#include "xshards/execution/fragments/stage_state.h"

namespace xshards {

namespace {

/// A fixed number of threads that each run the same function.
class ThreadArena {
 public:
  explicit ThreadArena(int num_threads);
  void RunOnAll(const std::function<void()>& work);

 private:
  int num_threads_;
#if XSHARDS_USE_TBB
  tbb::task_arena arena_;
#endif
};

#if XSHARDS_USE_TBB

// More threads than cores would only wait.
ThreadArena::ThreadArena(int num_threads)
    : num_threads_(std::min(num_threads, tbb::info::default_concurrency())),
      arena_(num_threads_) {}

void ThreadArena::RunOnAll(const std::function<void()>& work) {
  arena_.execute([&] { tbb::parallel_for(0, num_threads_, [&](int) { work(); }); });
}

#else

ThreadArena::ThreadArena(int num_threads) : num_threads_(num_threads) {}

void ThreadArena::RunOnAll(const std::function<void()>& work) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < num_threads_; ++i) threads.emplace_back(work);
}

#endif

class ThreadRunner final : public Runner {
 public:
  ThreadRunner(int num_threads, std::shared_ptr<const OperatorTable> operators)
      : arena_(num_threads), operators_(std::move(operators)) {}

  std::string name() const override { return "threads"; }

  arrow::Result<std::vector<FragmentResult>> Run(
      const std::vector<Fragment>& fragments, StorageEnvironment environment,
      const arrow::StopToken& stop, const std::function<void()>& on_done) override {
    return CatchExceptions("Running partitions",
                           [&] { return RunAll(fragments, environment, stop, on_done); });
  }

 private:
  arrow::Result<std::vector<FragmentResult>> RunAll(
      const std::vector<Fragment>& fragments, StorageEnvironment environment,
      const arrow::StopToken& stop, const std::function<void()>& on_done) {
    std::vector<FragmentResult> results(fragments.size());
    std::atomic<bool> abandoned{false};
    StageState shared;
    std::mutex mutex;  // guards failure
    arrow::Status failure;
    std::atomic<size_t> next{0};
    // Each thread takes the next fragment, so that the first partitions are ready first
    // and a slow one does not delay others.
    arena_.RunOnAll([&] {
      for (size_t i = next++; i < fragments.size() && !abandoned; i = next++) {
        auto status = CatchExceptions("Running a partition", [&] {
          ARROW_ASSIGN_OR_RAISE(results[i],
                                RunFragment(fragments[i], *operators_, environment, stop,
                                            &abandoned, &shared));
          on_done();
          return arrow::Status::OK();
        });
        if (status.ok()) continue;
        std::lock_guard lock(mutex);
        // Later failures are only "cancelled": the first is the cause.
        if (!abandoned.exchange(true)) failure = std::move(status);
      }
    });
    ARROW_RETURN_NOT_OK(failure);
    return results;
  }

  ThreadArena arena_;
  std::shared_ptr<const OperatorTable> operators_;
};

}  // namespace

std::shared_ptr<Runner> MakeThreadRunner(int num_threads,
                                         std::shared_ptr<const OperatorTable> operators) {
  return std::make_shared<ThreadRunner>(num_threads, std::move(operators));
}

}  // namespace xshards
