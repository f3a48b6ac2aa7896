// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace xshards {

/// Objects that the fragments of a stage create once and share within a process, by the
/// number that the planner assigned (JoinNode::shared_table). Thread-safe.
class StageState {
 public:
  /// Return the object shared under a number; call `make` if there is none yet. `make`
  /// must be cheap: other threads wait for it.
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
