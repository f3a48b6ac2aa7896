// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>

namespace xshards {

/// Something that the fragments of a stage make once and share while they run in one
/// process. Not encoded: a fragment that travels makes its own. Thread-safe.
class StageShared {
 public:
  /// What is shared; `make` is called if it is not there yet.
  template <typename T, typename Make>
  std::shared_ptr<T> GetOrMake(Make&& make) {
    std::lock_guard lock(mutex_);
    if (value_ == nullptr) value_ = make();
    return std::static_pointer_cast<T>(value_);
  }

 private:
  std::mutex mutex_;  // guards value_
  std::shared_ptr<void> value_;
};

}  // namespace xshards
