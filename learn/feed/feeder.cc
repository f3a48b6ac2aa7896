// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/feeder.h"

#include <limits>
#include <utility>

#include "learn/feed/batch_reader.h"
#include "xshards/catch_exceptions.h"

namespace xshards::learn {

arrow::Status FeedOptions::Validate() const {
  if (batch_size < 1) {
    return arrow::Status::Invalid("batch_size must be at least 1, got ", batch_size);
  }
  if (num_replicas < 1 || replica < 0 || replica >= num_replicas) {
    return arrow::Status::Invalid(
        "replica must be below the number of replicas, got replica ", replica, " of ",
        num_replicas);
  }
  if (order.window_rows < 1 || order.window_rows > std::numeric_limits<uint32_t>::max()) {
    return arrow::Status::Invalid("window_rows must be 1 to ",
                                  std::numeric_limits<uint32_t>::max(), " rows, got ",
                                  order.window_rows);
  }
  if (prefetch < 1) {
    return arrow::Status::Invalid("prefetch must be at least 1 batch, got ", prefetch);
  }
  return arrow::Status::OK();
}

arrow::Result<std::unique_ptr<Feeder>> Feeder::Make(
    const std::vector<Partition>& partitions, FeedOptions options,
    arrow::MemoryPool* pool) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(auto source, RowSource::Make(partitions, options.tensors, pool));
  return std::unique_ptr<Feeder>(new Feeder(std::move(source), std::move(options), pool));
}

Feeder::Feeder(RowSource source, FeedOptions options, arrow::MemoryPool* pool)
    : options_(std::move(options)),
      pool_(pool),
      source_(std::move(source)),
      plan_{.num_rows = source_.num_rows(),
            .batch_size = options_.batch_size,
            .num_replicas = options_.num_replicas},
      ready_(options_.prefetch) {}

Feeder::~Feeder() { Stop(); }

arrow::Status Feeder::Start(int64_t epoch, int64_t first_step) {
  Stop();
  ended_ = true;  // Next() must not wait for a thread that did not start
  const auto make = [this, epoch, first_step](const std::stop_token& stop) {
    const auto status = CatchExceptions("Making batches", [&] {
      MakeBatches(stop, epoch, first_step);
      return arrow::Status::OK();
    });
    if (!status.ok()) ready_.Put(stop, status);
  };
  ARROW_RETURN_NOT_OK(CatchExceptions("Starting to make batches", [&] {
    thread_ = std::jthread(make);
    return arrow::Status::OK();
  }));
  ended_ = false;
  return arrow::Status::OK();
}

arrow::Result<std::optional<FeedBatch>> Feeder::Next() {
  if (ended_) return std::nullopt;
  auto batch = ready_.Take();
  ended_ = !batch.ok() || !batch->has_value();
  return batch;
}

void Feeder::Stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  ready_.Clear();
}

void Feeder::MakeBatches(const std::stop_token& stop, int64_t epoch, int64_t first_step) {
  BatchReader reader(&source_, EpochOrder(source_.piece_rows(), options_.order, epoch),
                     pool_);
  for (int64_t step = first_step; step < plan_.num_steps(); ++step) {
    const auto share = plan_.ShareOf(options_.replica, step);
    auto rows = reader.Read(share.begin, share.end);
    if (!rows.ok()) {
      ready_.Put(stop, rows.status());
      return;
    }
    FeedBatch batch{step, plan_.StepRows(step), rows.MoveValueUnsafe()};
    if (!ready_.Put(stop, std::optional(std::move(batch)))) return;
  }
  ready_.Put(stop, std::nullopt);
}

}  // namespace xshards::learn
