// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "learn/ps/client.h"
#include "xshards/export.h"

namespace xshards::learn {

enum class WindowOutcome : uint8_t {
  kUpdated,  // the weights are those after this step
  kStopped,  // the driver has stopped
  kNanLoss,  // the loss is NaN: the gradient was not pushed
};

/// "updated", "stopped" or "nan_loss".
XSHARDS_EXPORT const char* ToString(WindowOutcome outcome);

/// Several steps of a replica without Python between them: the framework calls Step from
/// its own threads, once for each batch, in order. With each gradient it leaves, for a
/// replica that takes its place,
///
///     head │ steps done (int64) │ buffers │ values of each step (float32)
///
/// where `head` says what the other bytes are; only who made it reads it. Not
/// thread-safe.
class XSHARDS_EXPORT StepWindow {
 public:
  /// `client` must outlive it.
  explicit StepWindow(ReplicaClient* client) : client_(client) {}

  /// Begin a window of `rows.size()` steps; the gradient of each has that many rows.
  /// `parameters` are those that have a gradient, in the order Step gets them. Each step
  /// leaves `buffer_bytes` bytes and `num_values` values; the one at `loss` (-1: none)
  /// must not be NaN. IndexError for a parameter or value that does not exist.
  arrow::Status Begin(std::string_view head, std::vector<double> rows,
                      std::vector<int32_t> parameters, int64_t buffer_bytes,
                      int64_t num_values, int64_t loss);
  /// Copy a gradient to the replica's, push it and wait until the weights have it.
  /// Invalid if there are more or fewer bytes than Begin was told, or no step is left.
  arrow::Result<WindowOutcome> Step(std::span<const std::span<const std::byte>> gradients,
                                    std::span<const std::span<const std::byte>> buffers,
                                    std::span<const float> values);

  /// Steps done since Begin.
  int64_t num_done() const { return num_done_; }
  /// The values of all steps done, one after the other.
  std::span<const float> values() const;
  /// The buffers after the last step; zeros before the first.
  std::span<const std::byte> buffers() const;
  /// How many gradients Step gets.
  int64_t num_gradients() const { return static_cast<int64_t>(parameters_.size()); }
  /// OK unless a Step of this window failed.
  const arrow::Status& status() const { return status_; }
  /// Keep what ended the window.
  void Fail(arrow::Status status) { status_ = std::move(status); }
  WindowOutcome outcome() const { return outcome_; }

 private:
  arrow::Status CopyGradients(std::span<const std::span<const std::byte>> gradients);
  arrow::Status CopyBuffers(std::span<const std::span<const std::byte>> buffers);
  std::byte* tail() { return state_.data() + head_bytes_; }

  ReplicaClient* const client_;
  std::vector<double> rows_;
  std::vector<int32_t> parameters_;
  std::vector<std::byte> state_;
  size_t head_bytes_ = 0;
  size_t buffer_bytes_ = 0;
  size_t num_values_ = 0;
  int64_t loss_ = -1;
  int64_t num_done_ = 0;
  WindowOutcome outcome_ = WindowOutcome::kUpdated;
  arrow::Status status_;
};

}  // namespace xshards::learn
