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
  kReady,    // the last gradient is consumed: weights are updated, the gradient may be
             // written
  kTimeout,  // not yet
  kStopped,  // the driver has stopped
};

/// "ready", "timeout" or "stopped".
XSHARDS_EXPORT const char* ToString(WaitOutcome outcome);

/// One replica's end of the parameter server. It reads the one weight vector and writes
/// its own gradient, in place. The cycle is
///
///     Wait → read weights, write gradient and presence → Push → Wait → ...
///
/// Nothing may be written between Push and the Wait that returns kReady.
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
  /// Detach in order, so that the driver does not report a death and another process can
  /// attach. Afterwards only the views are valid.
  void Detach();

  const std::shared_ptr<ParameterRegion>& region() const { return region_; }
  int32_t replica() const { return replica_; }
  /// Gradients pushed so far, by this process and those it replaces.
  uint64_t steps() const;

  const std::byte* weights() const { return region_->weights(); }
  std::byte* gradient() const { return region_->gradient(replica_); }
  /// One byte per parameter: 1 (the default) if it has a gradient, 0 if not. Kept from
  /// step to step.
  std::span<uint8_t> presence() const { return region_->presence(replica_); }
  /// What the last Push left for a replacement; empty before the first.
  arrow::Result<std::span<const std::byte>> state() const;

  /// Hand over the gradient of `rows` rows (the sum of their weights, if they have
  /// some), with the state a replacement needs to
  /// continue from here (random generators, position, module buffers). Fails if the
  /// previous gradient is not consumed yet or the state is too large.
  arrow::Status Push(double rows, std::span<const std::byte> state = {});
  /// Interrupt the driver's wait: a message for it is waiting elsewhere.
  void Call();
  /// Wait until the last pushed gradient is part of the weights; spins before it sleeps.
  /// Fails if the driver's process has ended.
  arrow::Result<WaitOutcome> Wait(std::chrono::nanoseconds timeout,
                                  std::chrono::nanoseconds awake = kAwake);

 private:
  // Waking a process takes longer than the update of a small model, and longer still on
  // an idle core.
  static constexpr std::chrono::microseconds kAwake{200};

  ReplicaClient(std::shared_ptr<ParameterRegion> region, int32_t replica);
  bool consumed() const;
  void StayAwake(std::chrono::nanoseconds time) const;

  const std::shared_ptr<ParameterRegion> region_;
  const int32_t replica_;
  const ProcessWatch driver_;
};

}  // namespace xshards::learn
