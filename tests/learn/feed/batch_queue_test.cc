// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/batch_queue.h"

#include <atomic>
#include <string>
#include <thread>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

/// A batch of `num_bytes` bytes; its step identifies it.
BatchQueue::Item BatchOf(int64_t step, size_t num_bytes) {
  FeedBatch batch{.step = step, .step_rows = 1, .rows = {.num_rows = 1, .tensors = {}}};
  batch.rows.tensors.push_back(
      {.row = {}, .data = arrow::Buffer::FromString(std::string(num_bytes, 'x'))});
  return std::optional(std::move(batch));
}

/// Puts batches of a size until it is stopped, and counts them.
class Producer {
 public:
  Producer(BatchQueue* queue, size_t num_bytes)
      : thread_([this, queue, num_bytes](const std::stop_token& stop) {
          while (queue->Put(stop, BatchOf(made_, num_bytes))) {
            ++made_;
            made_.notify_all();
          }
        }) {}

  /// Wait until it has put `count` batches.
  void Await(int64_t count) {
    for (int64_t made = made_; made < count; made = made_) made_.wait(made);
  }
  int64_t made() const { return made_; }
  void Stop() {
    thread_.request_stop();
    thread_.join();
  }

 private:
  std::atomic<int64_t> made_{0};
  std::jthread thread_;
};

TEST(BatchQueue, HoldsTheWantedNumberOfLargeBatches) {
  BatchQueue queue(3);
  Producer producer(&queue, 1 << 20);
  producer.Await(3);
  producer.Stop();
  EXPECT_EQ(producer.made(), 3);
}

TEST(BatchQueue, HoldsMoreSmallBatchesUpToABound) {
  BatchQueue some(3);
  Producer producer(&some, 32 * 1024);
  producer.Await(8);
  producer.Stop();
  EXPECT_EQ(producer.made(), 8);  // 256 KB
  BatchQueue empty(3);
  Producer of_nothing(&empty, 0);
  of_nothing.Await(64);
  of_nothing.Stop();
  EXPECT_EQ(of_nothing.made(), 64);
}

TEST(BatchQueue, ProducerResumesWhenHalfIsTaken) {
  BatchQueue queue(4);
  Producer producer(&queue, 1 << 20);
  producer.Await(4);
  ASSERT_OK_AND_ASSIGN(auto batch, queue.Take());
  EXPECT_EQ(batch->step, 0);
  ASSERT_OK_AND_ASSIGN(batch, queue.Take());
  EXPECT_EQ(batch->step, 1);
  producer.Await(6);
  producer.Stop();
  EXPECT_EQ(producer.made(), 6);
}

TEST(BatchQueue, GivesAllBatchesInOrder) {
  for (const int wanted : {1, 2, 5}) {
    BatchQueue queue(wanted);
    Producer producer(&queue, 100'000);
    for (int64_t step = 0; step < 1000; ++step) {
      ASSERT_OK_AND_ASSIGN(const auto batch, queue.Take());
      ASSERT_EQ(batch->step, step);
    }
  }
}

TEST(BatchQueue, ForwardsErrorsAndTheEnd) {
  BatchQueue queue(1);
  const std::stop_token never;
  ASSERT_TRUE(queue.Put(never, arrow::Status::IOError("gone")));
  EXPECT_FAILS(IOError, "gone", queue.Take());
  ASSERT_TRUE(queue.Put(never, std::nullopt));
  ASSERT_OK_AND_ASSIGN(const auto end, queue.Take());
  EXPECT_FALSE(end.has_value());
}

}  // namespace
}  // namespace xshards::learn
