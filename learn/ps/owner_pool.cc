// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/owner_pool.h"

namespace xshards::learn {

OwnerPool::OwnerPool(int num_owners) {
  for (int owner = 1; owner < num_owners; ++owner) {
    threads_.emplace_back([this, owner] { Loop(owner); });
  }
}

OwnerPool::~OwnerPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  started_.notify_all();
  threads_.clear();  // joins, before the members that the threads use are gone
}

void OwnerPool::Run(int count, const std::function<void(int)>& work) {
  if (count > 1) {
    {
      std::lock_guard lock(mutex_);
      work_ = &work;
      count_ = count;
      running_ = count - 1;
      ++round_;
    }
    started_.notify_all();
  }
  work(0);
  if (count > 1) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return running_ == 0; });
  }
}

void OwnerPool::Loop(int owner) {
  uint64_t done = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    started_.wait(lock, [&] { return stopping_ || round_ != done; });
    if (stopping_) return;
    done = round_;
    if (owner >= count_) continue;
    const auto& work = *work_;
    lock.unlock();
    work(owner);
    lock.lock();
    if (--running_ == 0) finished_.notify_one();
  }
}

}  // namespace xshards::learn
