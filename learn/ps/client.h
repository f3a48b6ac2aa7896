// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <arrow/result.h>
#include <arrow/status.h>

#include "learn/ps/region/parameter_region.h"
#include "learn/ps/region/process_watch.h"
#include "xshards/export.h"

namespace xshards::learn {

enum class WaitOutcome : uint8_t {
  kReady,    // the last gradient is consumed: weights are new, the gradient is free
  kTimeout,  // not yet
  kStopped,  // the driver has stopped: there is no more to do
};

/// One replica's end of the parameter server. It reads the one weight vector and writes
/// its own gradient, in place. The turn goes
///
///     Wait → read weights, write gradient and presence → Push → Wait → ...
///
/// and between Push and the Wait that says kReady, nothing may be written.
///
/// A replica that dies is replaced by attaching again: steps() and state() are those of
/// its last Push, so it repeats the step that it did not finish. Not thread-safe.
class XSHARDS_EXPORT ReplicaClient {
 public:
  /// Attach to the region of a driver in another process.
  static arrow::Result<std::unique_ptr<ReplicaClient>> Attach(int fd, int32_t replica);
  /// Attach within the driver's process, to the driver's own mapping.
  static arrow::Result<std::unique_ptr<ReplicaClient>> Attach(
      std::shared_ptr<ParameterRegion> region, int32_t replica);
  /// Detaches.
  ~ReplicaClient();
  /// Leave in order, so that this is not taken for a death and another can attach. Only
  /// the views remain of use.
  void Detach();

  const std::shared_ptr<ParameterRegion>& region() const { return region_; }
  int32_t replica() const { return replica_; }
  /// Gradients pushed so far, by this process or by those it replaces.
  uint64_t steps() const;

  const std::byte* weights() const { return region_->weights(); }
  std::byte* gradient() const { return region_->gradient(replica_); }
  /// One byte a parameter; all are present unless set to 0. Kept from step to step.
  std::span<uint8_t> presence() const { return region_->presence(replica_); }
  /// What the last Push left for a replacement; empty before the first.
  std::span<const std::byte> state() const;

  /// Hand the gradient over, made from `rows` rows, with what a replacement needs to go
  /// on from here (random generators, position, module buffers). Fails if the gradient
  /// before is not consumed yet or the state has no room.
  arrow::Status Push(int64_t rows, std::span<const std::byte> state = {});
  /// Have the driver come out of its wait: there is a message for it elsewhere.
  void Call();
  /// Wait until the gradient pushed last is part of the weights, at first without going
  /// to sleep. Fails if the driver's process is gone.
  arrow::Result<WaitOutcome> Wait(std::chrono::nanoseconds timeout,
                                  std::chrono::nanoseconds awake = kAwake);

 private:
  // Waking a process takes longer than the update of a small model, and on a core that
  // went idle meanwhile longer still.
  static constexpr std::chrono::microseconds kAwake{200};

  ReplicaClient(std::shared_ptr<ParameterRegion> region, int32_t replica);
  bool consumed() const;
  void StayAwake(std::chrono::nanoseconds time) const;

  const std::shared_ptr<ParameterRegion> region_;
  const int32_t replica_;
  const ProcessWatch driver_;
};

}  // namespace xshards::learn
