// SPDX-License-Identifier: Apache-2.0
#include "io/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace xshards::io {

arrow::Status ParallelFor(size_t count, int num_threads,
                          const std::function<arrow::Status(size_t)>& work) {
  std::vector<arrow::Status> results(count);
  std::atomic<size_t> next = 0;
  const auto take_all = [&] {
    for (size_t i = next++; i < count; i = next++) results[i] = work(i);
  };
  {
    std::vector<std::jthread> threads;
    const size_t wanted = std::min(count, static_cast<size_t>(std::max(num_threads, 1)));
    for (size_t i = 1; i < wanted; ++i) threads.emplace_back(take_all);
    take_all();
  }
  for (auto& result : results) ARROW_RETURN_NOT_OK(result);
  return arrow::Status::OK();
}

}  // namespace xshards::io
