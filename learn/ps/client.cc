// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/client.h"

#include <algorithm>
#include <cmath>
#include <sched.h>
#include <unistd.h>
#include <utility>

namespace xshards::learn {

namespace {

using Clock = std::chrono::steady_clock;

// How often a waiting replica checks that the driver is alive.
constexpr std::chrono::milliseconds kWatchInterval{100};

/// Take the slot, unless a live process holds it.
arrow::Status Occupy(ReplicaSlot* slot, int32_t replica) {
  int32_t holder = 0;
  while (!slot->pid.compare_exchange_strong(holder, getpid())) {
    if (!ProcessWatch(holder).HasEnded()) {
      return arrow::Status::Invalid("Replica ", replica,
                                    " is already attached by process ", holder);
    }
  }
  return arrow::Status::OK();
}

}  // namespace

const char* ToString(WaitOutcome outcome) {
  switch (outcome) {
    case WaitOutcome::kReady:
      return "ready";
    case WaitOutcome::kTimeout:
      return "timeout";
    case WaitOutcome::kStopped:
      break;
  }
  return "stopped";
}

ReplicaClient::ReplicaClient(std::shared_ptr<ParameterRegion> region, int32_t replica)
    : region_(std::move(region)), replica_(replica), driver_(region_->driver_pid()) {}

arrow::Result<std::unique_ptr<ReplicaClient>> ReplicaClient::Attach(int fd,
                                                                    int32_t replica) {
  ARROW_ASSIGN_OR_RAISE(auto region, ParameterRegion::Open(fd, replica));
  return Attach(std::move(region), replica);
}

arrow::Result<std::unique_ptr<ReplicaClient>> ReplicaClient::Attach(
    std::shared_ptr<ParameterRegion> region, int32_t replica) {
  if (replica < 0 || replica >= region->sizes().num_replicas) {
    return arrow::Status::IndexError("The server has replicas 0 to ",
                                     region->sizes().num_replicas - 1, ", got ", replica);
  }
  ReplicaSlot& slot = region->slot(replica);
  ARROW_RETURN_NOT_OK(Occupy(&slot, replica));
  auto client =
      std::unique_ptr<ReplicaClient>(new ReplicaClient(std::move(region), replica));
  // Not while a push of the replaced process is pending: owners read the flags.
  if (client->consumed()) std::ranges::fill(client->presence(), uint8_t{1});
  return client;
}

ReplicaClient::~ReplicaClient() { Detach(); }

void ReplicaClient::Detach() {
  // The driver may have declared this process dead, and another may have attached since.
  int32_t self = getpid();
  region_->slot(replica_).pid.compare_exchange_strong(self, 0);
}

uint64_t ReplicaClient::steps() const {
  return region_->slot(replica_).pushed.load(std::memory_order_relaxed);
}

bool ReplicaClient::consumed() const {
  const ReplicaSlot& slot = region_->slot(replica_);
  return slot.granted.load(std::memory_order_acquire) >= steps();
}

arrow::Result<std::span<const std::byte>> ReplicaClient::state() const {
  return region_->StateOf(replica_, steps());
}

arrow::Status ReplicaClient::Push(double rows, std::span<const std::byte> state) {
  if (!(rows >= 0) || std::isinf(rows)) {
    return arrow::Status::Invalid("Replica ", replica_,
                                  " must push a gradient of at least 0 rows, got ", rows);
  }
  if (!consumed()) {
    return arrow::Status::Invalid(
        "Replica ", replica_, " has already pushed: call wait() before the next push");
  }
  ReplicaSlot& slot = region_->slot(replica_);
  const uint64_t next = steps() + 1;
  const auto room = region_->replica_state(replica_, next);
  if (state.size() > room.size()) {
    return arrow::Status::Invalid("Replica ", replica_, " has room for ", room.size(),
                                  " bytes of state (replica_state_bytes), got ",
                                  state.size());
  }
  std::ranges::copy(state, room.begin());
  slot.state_size[next % 2] = static_cast<int64_t>(state.size());
  slot.rows = rows;
  slot.pushed.store(next, std::memory_order_release);
  region_->gradients_bell().Ring();
  return arrow::Status::OK();
}

void ReplicaClient::Call() {
  region_->calls().fetch_add(1, std::memory_order_release);
  region_->gradients_bell().Ring();
}

void ReplicaClient::StayAwake(std::chrono::nanoseconds time) const {
  const auto end = Clock::now() + time;
  while (!consumed() && Clock::now() < end) {
    // This may be the only core for the owner or another replica.
    sched_yield();
  }
}

arrow::Result<WaitOutcome> ReplicaClient::Wait(std::chrono::nanoseconds timeout,
                                               std::chrono::nanoseconds awake) {
  const auto deadline = Clock::now() + timeout;
  StayAwake(std::min(timeout, awake));
  while (true) {
    const uint32_t seen = region_->weights_bell().value();
    // A stopped driver makes no more updates, but may have made this one.
    const bool stopped = region_->stopped().load(std::memory_order_acquire);
    if (consumed()) return WaitOutcome::kReady;
    if (stopped) return WaitOutcome::kStopped;
    const auto now = Clock::now();
    if (now >= deadline) return WaitOutcome::kTimeout;
    if (driver_.HasEnded()) {
      return arrow::Status::IOError("The driver process ", driver_.pid(),
                                    " has ended; replica ", replica_,
                                    " cannot continue training");
    }
    region_->weights_bell().Wait(
        seen, std::min<std::chrono::nanoseconds>(deadline - now, kWatchInterval));
  }
}

}  // namespace xshards::learn
