// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/owner_pool.h"

#include "xshards/catch_exceptions.h"

namespace xshards::learn {
namespace {

arrow::Status Own(int owner, const std::function<void(int)>& work) {
  return CatchExceptions("Updating parameters", [&] {
    work(owner);
    return arrow::Status::OK();
  });
}

}  // namespace

arrow::Result<std::unique_ptr<OwnerPool>> OwnerPool::Make(int num_owners) {
  std::unique_ptr<OwnerPool> pool(new OwnerPool);
  ARROW_RETURN_NOT_OK(CatchExceptions("Starting the owners of parameters", [&] {
    for (int owner = 1; owner < num_owners; ++owner) {
      pool->threads_.emplace_back([self = pool.get(), owner] { self->Loop(owner); });
    }
    return arrow::Status::OK();
  }));
  return pool;
}

OwnerPool::~OwnerPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  started_.notify_all();
  threads_.clear();  // joins, before the members that the threads use are destroyed
}

arrow::Status OwnerPool::Run(int count, const std::function<void(int)>& work) {
  if (count > 1) {
    {
      std::lock_guard lock(mutex_);
      work_ = &work;
      count_ = count;
      running_ = count - 1;
      failure_ = arrow::Status::OK();
      ++round_;
    }
    started_.notify_all();
  }
  auto status = Own(0, work);
  if (count > 1) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return running_ == 0; });
    ARROW_RETURN_NOT_OK(failure_);
  }
  return status;
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
    const auto status = Own(owner, work);
    lock.lock();
    if (!status.ok()) failure_ = status;
    if (--running_ == 0) finished_.notify_one();
  }
}

}  // namespace xshards::learn
