// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "xshards/export.h"

namespace xshards {

/// The time now, in nanoseconds of the steady clock.
XSHARDS_EXPORT int64_t SteadyNanoseconds();

/// Metrics of one fragment. Filled by its only thread.
struct FragmentMetrics {
  int64_t bytes_read = 0;  // from files, by scans: only bytes actually read
  int64_t rows_read = 0;   // rows that scans output
  int64_t row_groups_skipped = 0;
  /// Lines skipped with a warning, and the error of the first.
  int64_t bad_lines = 0;
  std::string first_bad_line{};
  int64_t rows_out = 0;
  int64_t bytes_out = 0;
  /// Of these, written to segments or files, without columns passed by reference.
  int64_t bytes_written = 0;
  double seconds = 0;

  XSHARDS_EXPORT void Merge(const FragmentMetrics& other);
};

/// When and where a fragment ran. Nanoseconds of the steady clock, which all processes of
/// a machine share; the numbers of process and thread are the kernel's.
struct FragmentSpan {
  int32_t index = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t process = 0;
  int64_t thread = 0;
};

/// Metrics of one stage: the sum over its fragments, and the wall-clock time.
struct StageProfile {
  std::string label;
  std::string runner;  // "threads" or "processes"
  int num_fragments = 0;
  FragmentMetrics metrics;  // `seconds` is the sum over fragments
  double wall_seconds = 0;
  int64_t spilled_bytes = 0;
  int64_t begin_ns = 0;             // of the steady clock
  std::vector<FragmentSpan> spans;  // one per fragment
  /// The algorithms chosen, as "algorithm: reason"; see Planner::Note.
  std::vector<std::string> notes;
};

/// Metrics of one action, stage by stage, in the order they ran.
struct Profile {
  std::vector<StageProfile> stages;
  double wall_seconds = 0;
  int64_t begin_ns = 0;  // of the steady clock

  /// The sum over the stages.
  XSHARDS_EXPORT FragmentMetrics Total() const;
};

/// Lets another thread watch an action. Thread-safe.
class XSHARDS_EXPORT Progress {
 public:
  struct Snapshot {
    int stage = 0;  // counts up with each stage of the action; 0 before the first
    std::string label;
    int done = 0;
    int total = 0;
  };

  void StartStage(std::string label, int total);
  void FinishFragment();
  void Reset();
  Snapshot Get() const;

 private:
  mutable std::mutex mutex_;  // guards current_
  Snapshot current_;
};

}  // namespace xshards
