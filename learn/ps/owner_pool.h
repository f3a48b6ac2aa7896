// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards::learn {

/// The threads that own parameter shards. Owner 0 is the thread that calls Run.
class OwnerPool {
 public:
  /// Start the threads; an error if the system gives no more of them.
  static arrow::Result<std::unique_ptr<OwnerPool>> Make(int num_owners);
  ~OwnerPool();
  OwnerPool(const OwnerPool&) = delete;
  OwnerPool& operator=(const OwnerPool&) = delete;

  int num_owners() const { return static_cast<int>(threads_.size()) + 1; }

  /// Call `work(owner)` for owners 0..count-1 at once, and return when all have ended.
  /// One caller at a time. An error is what one of them threw.
  arrow::Status Run(int count, const std::function<void(int)>& work);

 private:
  OwnerPool() = default;
  void Loop(int owner);

  std::mutex mutex_;  // guards all below but threads_
  std::condition_variable started_;
  std::condition_variable finished_;
  const std::function<void(int)>* work_ = nullptr;
  uint64_t round_ = 0;
  int count_ = 0;
  int running_ = 0;
  arrow::Status failure_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace xshards::learn
