// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/fragments/metrics.h"

#include <chrono>
#include <utility>

namespace xshards {

int64_t SteadyNanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void FragmentMetrics::Merge(const FragmentMetrics& other) {
  bytes_read += other.bytes_read;
  rows_read += other.rows_read;
  row_groups_skipped += other.row_groups_skipped;
  if (bad_lines == 0) first_bad_line = other.first_bad_line;
  bad_lines += other.bad_lines;
  rows_out += other.rows_out;
  bytes_out += other.bytes_out;
  bytes_written += other.bytes_written;
  seconds += other.seconds;
}

FragmentMetrics Profile::Total() const {
  FragmentMetrics total;
  for (const auto& stage : stages) total.Merge(stage.metrics);
  return total;
}

void Progress::StartStage(std::string label, int total) {
  std::lock_guard lock(mutex_);
  current_ = {
      .stage = current_.stage + 1, .label = std::move(label), .done = 0, .total = total};
}

void Progress::FinishFragment() {
  std::lock_guard lock(mutex_);
  ++current_.done;
}

void Progress::Reset() {
  std::lock_guard lock(mutex_);
  current_ = {};
}

Progress::Snapshot Progress::Get() const {
  std::lock_guard lock(mutex_);
  return current_;
}

}  // namespace xshards
