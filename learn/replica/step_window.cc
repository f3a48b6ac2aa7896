// SPDX-License-Identifier: Apache-2.0
#include "learn/replica/step_window.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

namespace xshards::learn {

namespace {

using Bytes = std::span<const std::byte>;

// A wait ends earlier if the driver stops or its process ends.
constexpr std::chrono::hours kOneWait{1};

void Append(std::byte*& to, Bytes bytes) {
  // memcpy takes no null pointer, even for no bytes.
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  to += bytes.size();
}

}  // namespace

const char* ToString(WindowOutcome outcome) {
  switch (outcome) {
    case WindowOutcome::kUpdated:
      return "updated";
    case WindowOutcome::kStopped:
      return "stopped";
    case WindowOutcome::kNanLoss:
      break;
  }
  return "nan_loss";
}

arrow::Status StepWindow::Begin(std::string_view head, std::vector<double> rows,
                                std::vector<int32_t> parameters, int64_t buffer_bytes,
                                int64_t num_values, int64_t loss) {
  if (rows.empty() || buffer_bytes < 0 || num_values < 0) {
    return arrow::Status::Invalid("A window has steps, and no negative sizes; got ",
                                  rows.size(), " steps, ", buffer_bytes, " bytes and ",
                                  num_values, " values");
  }
  if (loss >= num_values) {
    return arrow::Status::IndexError("A step has ", num_values, " values, got ", loss,
                                     " as the place of the loss");
  }
  for (const int32_t index : parameters) {
    ARROW_RETURN_NOT_OK(client_->region()->CheckParameter(index));
  }
  rows_ = std::move(rows);
  parameters_ = std::move(parameters);
  head_bytes_ = head.size();
  buffer_bytes_ = static_cast<size_t>(buffer_bytes);
  num_values_ = static_cast<size_t>(num_values);
  loss_ = loss;
  num_done_ = 0;
  outcome_ = WindowOutcome::kUpdated;
  status_ = arrow::Status::OK();
  const size_t values_bytes = rows_.size() * num_values_ * sizeof(float);
  state_.assign(head_bytes_ + sizeof(int64_t) + buffer_bytes_ + values_bytes,
                std::byte{0});
  std::ranges::copy(std::as_bytes(std::span(head)), state_.begin());
  return arrow::Status::OK();
}

arrow::Status StepWindow::CopyGradients(std::span<const Bytes> gradients) {
  if (gradients.size() != parameters_.size()) {
    return arrow::Status::Invalid("Expected the gradients of ", parameters_.size(),
                                  " parameters, got ", gradients.size());
  }
  const auto records = client_->region()->parameters();
  for (size_t i = 0; i < gradients.size(); ++i) {
    const ParameterRecord& record = records[static_cast<size_t>(parameters_[i])];
    const auto size = static_cast<size_t>(record.count * SizeOf(record.type));
    if (gradients[i].size() != size) {
      return arrow::Status::Invalid("The gradient of parameter ", parameters_[i], " has ",
                                    size, " bytes, got ", gradients[i].size());
    }
    std::byte* to = client_->gradient() + record.offset;
    Append(to, gradients[i]);
  }
  return arrow::Status::OK();
}

arrow::Status StepWindow::CopyBuffers(std::span<const Bytes> buffers) {
  size_t total = 0;
  for (const Bytes one : buffers) total += one.size();
  if (total != buffer_bytes_) {
    return arrow::Status::Invalid("Expected ", buffer_bytes_, " bytes of buffers, got ",
                                  total);
  }
  std::byte* to = tail() + sizeof(int64_t);
  for (const Bytes one : buffers) Append(to, one);
  return arrow::Status::OK();
}

arrow::Result<WindowOutcome> StepWindow::Step(std::span<const Bytes> gradients,
                                              std::span<const Bytes> buffers,
                                              std::span<const float> values) {
  const auto step = static_cast<size_t>(num_done_);
  if (step >= rows_.size()) {
    return arrow::Status::Invalid("All ", rows_.size(), " steps of the window are done");
  }
  if (values.size() != num_values_) {
    return arrow::Status::Invalid("Expected ", num_values_, " values of a step, got ",
                                  values.size());
  }
  if (loss_ >= 0 && std::isnan(values[static_cast<size_t>(loss_)])) {
    return outcome_ = WindowOutcome::kNanLoss;
  }
  ARROW_RETURN_NOT_OK(CopyGradients(gradients));
  ARROW_RETURN_NOT_OK(CopyBuffers(buffers));
  std::byte* own =
      tail() + sizeof(int64_t) + buffer_bytes_ + step * num_values_ * sizeof(float);
  Append(own, std::as_bytes(values));
  const int64_t done = num_done_ + 1;
  std::memcpy(tail(), &done, sizeof(done));
  ARROW_RETURN_NOT_OK(client_->Push(rows_[step], state_));
  WaitOutcome waited = WaitOutcome::kTimeout;
  while (waited == WaitOutcome::kTimeout) {
    ARROW_ASSIGN_OR_RAISE(waited, client_->Wait(kOneWait));
  }
  if (waited == WaitOutcome::kStopped) return outcome_ = WindowOutcome::kStopped;
  num_done_ = done;
  return outcome_ = WindowOutcome::kUpdated;
}

std::span<const float> StepWindow::values() const {
  const std::byte* begin = state_.data() + head_bytes_ + sizeof(int64_t) + buffer_bytes_;
  return {reinterpret_cast<const float*>(begin),
          static_cast<size_t>(num_done_) * num_values_};
}

std::span<const std::byte> StepWindow::buffers() const {
  return {state_.data() + head_bytes_ + sizeof(int64_t), buffer_bytes_};
}

}  // namespace xshards::learn
