// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards::learn {

/// How the learning rate changes over iterations, as in BigDL's optimizers. Iterations
/// count updates from 0. RateAt has no side effects, so a resumed run gets the same
/// rates; what changes with observations is in State().
class XSHARDS_EXPORT LearningRateSchedule {
 public:
  virtual ~LearningRateSchedule() = default;

  /// The rate for an iteration, from the optimizer's own rate. `start` is the iteration
  /// at which this schedule took over in a sequence.
  virtual double RateAt(double base_rate, int64_t iteration, int64_t start = 0) const = 0;

  /// Report the monitored metric at the end of an epoch; `iteration` is its last
  /// iteration.
  virtual void Observe(double value, double base_rate, int64_t iteration);

  /// The state that depends on observations, for a checkpoint; empty if there is none.
  virtual std::vector<double> State() const;
  virtual arrow::Status Restore(const std::vector<double>& state);
};

using SchedulePtr = std::shared_ptr<LearningRateSchedule>;

/// rate / (1 + iteration * decay)
XSHARDS_EXPORT arrow::Result<SchedulePtr> MakeDefaultSchedule(double decay);
/// rate * (1 - iteration / max_iteration) ^ power, and 0 afterwards. Within a sequence
/// the iterations before it count too, as in BigDL.
XSHARDS_EXPORT arrow::Result<SchedulePtr> MakePolySchedule(double power,
                                                           int64_t max_iteration);
/// rate * decay_rate ^ (iteration / decay_step), in whole steps if `stair_case`.
XSHARDS_EXPORT arrow::Result<SchedulePtr> MakeExponentialSchedule(int64_t decay_step,
                                                                  double decay_rate,
                                                                  bool stair_case);
/// rate * gamma ^ floor(iteration / step_size)
XSHARDS_EXPORT arrow::Result<SchedulePtr> MakeStepSchedule(int64_t step_size,
                                                           double gamma);
/// rate * gamma for each of the ascending step sizes that has been reached.
XSHARDS_EXPORT arrow::Result<SchedulePtr> MakeMultiStepSchedule(
    std::vector<int64_t> step_sizes, double gamma);
/// rate + delta * iteration
XSHARDS_EXPORT arrow::Result<SchedulePtr> MakeWarmupSchedule(double delta);

struct XSHARDS_EXPORT PlateauOptions {
  double factor = 0.1;
  int64_t patience = 10;  // epochs without improvement
  bool maximize = false;  // the metric is better when larger
  double epsilon = 1e-4;  // smaller changes do not count as improvement
  int64_t cooldown = 0;   // epochs after a reduction that do not count
  double min_rate = 0;

  arrow::Status Validate() const;
};
/// Reduces the rate by a factor when the observed metric has stopped improving.
XSHARDS_EXPORT arrow::Result<SchedulePtr> MakePlateauSchedule(
    const PlateauOptions& options);

/// A sequence of schedules, each starting from the last rate of the previous one.
class XSHARDS_EXPORT SequentialSchedule final : public LearningRateSchedule {
 public:
  /// Append a schedule. As in BigDL, it applies up to and including the iteration that is
  /// `max_iteration` after the end of the previous one; the last one has no end.
  arrow::Status Add(SchedulePtr schedule, int64_t max_iteration);

  double RateAt(double base_rate, int64_t iteration, int64_t start) const override;
  void Observe(double value, double base_rate, int64_t iteration) override;
  std::vector<double> State() const override;
  arrow::Status Restore(const std::vector<double>& state) override;

 private:
  struct Entry {
    SchedulePtr schedule;
    int64_t start = 0;
    int64_t end = 0;
  };
  struct Current {
    size_t index = 0;
    double base_rate = 0;
  };
  Current FindCurrent(double base_rate, int64_t iteration, int64_t start) const;

  std::vector<Entry> entries_;
};

}  // namespace xshards::learn
