// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace xshards {

/// What the fragments of a stage make once and share while they run in one process, by
/// the number that the planner gave it (JoinNode::shared_table). Thread-safe.
class StageState {
 public:
  /// Return what is shared under a number; call `make` if there is nothing yet. `make`
  /// must be cheap: others wait for it.
  template <typename T, typename Make>
  std::shared_ptr<T> GetOrMake(int32_t number, Make&& make) {
    std::lock_guard lock(mutex_);
    auto& value = values_[number];
    if (value == nullptr) value = make();
    return std::static_pointer_cast<T>(value);
  }

 private:
  std::mutex mutex_;  // guards values_
  std::map<int32_t, std::shared_ptr<void>> values_;
};

}  // namespace xshards
