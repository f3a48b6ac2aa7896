// SPDX-License-Identifier: Apache-2.0
#include "learn/schedule/learning_rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace xshards::learn {

namespace {

arrow::Status CheckPositive(const char* schedule, const char* name, int64_t value) {
  if (value >= 1) return arrow::Status::OK();
  return arrow::Status::Invalid(schedule, ": ", name, " must be at least 1, got ", value);
}

class DefaultSchedule final : public LearningRateSchedule {
 public:
  explicit DefaultSchedule(double decay) : decay_(decay) {}
  double RateAt(double base_rate, int64_t iteration, int64_t start) const override {
    return base_rate / (1 + static_cast<double>(iteration - start) * decay_);
  }

 private:
  const double decay_;
};

class PolySchedule final : public LearningRateSchedule {
 public:
  PolySchedule(double power, int64_t max_iteration)
      : power_(power), max_iteration_(max_iteration) {}
  double RateAt(double base_rate, int64_t iteration, int64_t) const override {
    if (iteration > max_iteration_) return 0;
    const double done =
        static_cast<double>(iteration) / static_cast<double>(max_iteration_);
    return base_rate * std::pow(1 - done, power_);
  }

 private:
  const double power_;
  const int64_t max_iteration_;
};

class ExponentialSchedule final : public LearningRateSchedule {
 public:
  ExponentialSchedule(int64_t decay_step, double decay_rate, bool stair_case)
      : decay_step_(decay_step), decay_rate_(decay_rate), stair_case_(stair_case) {}
  double RateAt(double base_rate, int64_t iteration, int64_t start) const override {
    const double steps =
        static_cast<double>(iteration - start) / static_cast<double>(decay_step_);
    return base_rate * std::pow(decay_rate_, stair_case_ ? std::floor(steps) : steps);
  }

 private:
  const int64_t decay_step_;
  const double decay_rate_;
  const bool stair_case_;
};

class StepSchedule final : public LearningRateSchedule {
 public:
  StepSchedule(int64_t step_size, double gamma) : step_size_(step_size), gamma_(gamma) {}
  double RateAt(double base_rate, int64_t iteration, int64_t start) const override {
    const auto steps = static_cast<double>((iteration - start) / step_size_);
    return base_rate * std::pow(gamma_, steps);
  }

 private:
  const int64_t step_size_;
  const double gamma_;
};

class MultiStepSchedule final : public LearningRateSchedule {
 public:
  MultiStepSchedule(std::vector<int64_t> step_sizes, double gamma)
      : step_sizes_(std::move(step_sizes)), gamma_(gamma) {}
  double RateAt(double base_rate, int64_t iteration, int64_t start) const override {
    const auto reached = std::ranges::upper_bound(step_sizes_, iteration - start);
    const auto steps = static_cast<double>(reached - step_sizes_.begin());
    return base_rate * std::pow(gamma_, steps);
  }

 private:
  const std::vector<int64_t> step_sizes_;
  const double gamma_;
};

class WarmupSchedule final : public LearningRateSchedule {
 public:
  explicit WarmupSchedule(double delta) : delta_(delta) {}
  double RateAt(double base_rate, int64_t iteration, int64_t start) const override {
    return base_rate + delta_ * static_cast<double>(iteration - start);
  }

 private:
  const double delta_;
};

class PlateauSchedule final : public LearningRateSchedule {
 public:
  explicit PlateauSchedule(const PlateauOptions& options)
      : options_(options),
        best_(options.maximize ? -std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::infinity()) {}

  double RateAt(double base_rate, int64_t, int64_t) const override {
    return std::isnan(rate_) ? base_rate : rate_;
  }

  void Observe(double value, double base_rate, int64_t) override {
    if (cooling_ > 0) {
      --cooling_;
      waited_ = 0;
    }
    if (IsBetter(value)) {
      best_ = value;
      waited_ = 0;
    } else if (cooling_ <= 0) {
      if (waited_ >= static_cast<double>(options_.patience)) Reduce(base_rate);
      ++waited_;
    }
  }

  std::vector<double> State() const override { return {best_, rate_, waited_, cooling_}; }

  arrow::Status Restore(const std::vector<double>& state) override {
    if (state.size() != 4) {
      return arrow::Status::Invalid("Plateau is restored from 4 values, got ",
                                    state.size());
    }
    best_ = state[0];
    rate_ = state[1];
    waited_ = state[2];
    cooling_ = state[3];
    return arrow::Status::OK();
  }

 private:
  bool IsBetter(double value) const {
    return options_.maximize ? value > best_ + options_.epsilon
                             : value < best_ - options_.epsilon;
  }

  void Reduce(double base_rate) {
    const double current = std::isnan(rate_) ? base_rate : rate_;
    // A rate within rounding of the minimum counts as the minimum.
    if (current <= options_.min_rate * (1 + 1e-4)) return;
    rate_ = std::max(current * options_.factor, options_.min_rate);
    cooling_ = static_cast<double>(options_.cooldown);
    waited_ = 0;
  }

  const PlateauOptions options_;
  double best_;
  double rate_ = std::numeric_limits<double>::quiet_NaN();  // NaN: not reduced yet
  double waited_ = 0;
  double cooling_ = 0;
};

}  // namespace

void LearningRateSchedule::Observe(double, double, int64_t) {}

std::vector<double> LearningRateSchedule::State() const { return {}; }

arrow::Status LearningRateSchedule::Restore(const std::vector<double>& state) {
  if (state.empty()) return arrow::Status::OK();
  return arrow::Status::Invalid("This learning rate schedule keeps no state, got ",
                                state.size(), " values");
}

arrow::Result<SchedulePtr> MakeDefaultSchedule(double decay) {
  if (!(decay >= 0)) {
    return arrow::Status::Invalid("Default: decay must be at least 0, got ", decay);
  }
  return std::make_shared<DefaultSchedule>(decay);
}

arrow::Result<SchedulePtr> MakePolySchedule(double power, int64_t max_iteration) {
  ARROW_RETURN_NOT_OK(CheckPositive("Poly", "max_iteration", max_iteration));
  return std::make_shared<PolySchedule>(power, max_iteration);
}

arrow::Result<SchedulePtr> MakeExponentialSchedule(int64_t decay_step, double decay_rate,
                                                   bool stair_case) {
  ARROW_RETURN_NOT_OK(CheckPositive("Exponential", "decay_step", decay_step));
  return std::make_shared<ExponentialSchedule>(decay_step, decay_rate, stair_case);
}

arrow::Result<SchedulePtr> MakeStepSchedule(int64_t step_size, double gamma) {
  ARROW_RETURN_NOT_OK(CheckPositive("Step", "step_size", step_size));
  return std::make_shared<StepSchedule>(step_size, gamma);
}

arrow::Result<SchedulePtr> MakeMultiStepSchedule(std::vector<int64_t> step_sizes,
                                                 double gamma) {
  if (!std::ranges::is_sorted(step_sizes)) {
    return arrow::Status::Invalid("MultiStep: step_sizes must be in ascending order");
  }
  return std::make_shared<MultiStepSchedule>(std::move(step_sizes), gamma);
}

arrow::Result<SchedulePtr> MakeWarmupSchedule(double delta) {
  return std::make_shared<WarmupSchedule>(delta);
}

arrow::Status PlateauOptions::Validate() const {
  if (!(factor < 1)) {
    return arrow::Status::Invalid("Plateau: factor must be below 1, got ", factor);
  }
  if (patience < 0 || cooldown < 0) {
    return arrow::Status::Invalid(
        "Plateau: patience and cooldown must be at least 0, got ", patience, " and ",
        cooldown);
  }
  return arrow::Status::OK();
}

arrow::Result<SchedulePtr> MakePlateauSchedule(const PlateauOptions& options) {
  ARROW_RETURN_NOT_OK(options.Validate());
  return std::make_shared<PlateauSchedule>(options);
}

arrow::Status SequentialSchedule::Add(SchedulePtr schedule, int64_t max_iteration) {
  ARROW_RETURN_NOT_OK(
      CheckPositive("SequentialSchedule", "max_iteration", max_iteration));
  const int64_t start = entries_.empty() ? 0 : entries_.back().end;
  entries_.push_back(
      {.schedule = std::move(schedule), .start = start, .end = start + max_iteration});
  return arrow::Status::OK();
}

SequentialSchedule::Current SequentialSchedule::FindCurrent(double base_rate,
                                                            int64_t iteration,
                                                            int64_t start) const {
  Current current{.index = 0, .base_rate = base_rate};
  while (current.index + 1 < entries_.size()) {
    const Entry& entry = entries_[current.index];
    if (iteration <= start + entry.end) break;
    current.base_rate =
        entry.schedule->RateAt(current.base_rate, start + entry.end, start + entry.start);
    ++current.index;
  }
  return current;
}

double SequentialSchedule::RateAt(double base_rate, int64_t iteration,
                                  int64_t start) const {
  if (entries_.empty()) return base_rate;
  const Current current = FindCurrent(base_rate, iteration, start);
  const Entry& entry = entries_[current.index];
  return entry.schedule->RateAt(current.base_rate, iteration, start + entry.start);
}

void SequentialSchedule::Observe(double value, double base_rate, int64_t iteration) {
  if (entries_.empty()) return;
  const Current current = FindCurrent(base_rate, iteration, 0);
  entries_[current.index].schedule->Observe(value, current.base_rate, iteration);
}

std::vector<double> SequentialSchedule::State() const {
  std::vector<double> all;
  for (const Entry& entry : entries_) {
    const auto state = entry.schedule->State();
    all.insert(all.end(), state.begin(), state.end());
  }
  return all;
}

arrow::Status SequentialSchedule::Restore(const std::vector<double>& state) {
  auto next = state.begin();
  for (const Entry& entry : entries_) {
    const auto size = static_cast<std::ptrdiff_t>(entry.schedule->State().size());
    if (state.end() - next < size) {
      return arrow::Status::Invalid("SequentialSchedule: the state is too short, got ",
                                    state.size(), " values");
    }
    ARROW_RETURN_NOT_OK(entry.schedule->Restore({next, next + size}));
    next += size;
  }
  if (next == state.end()) return arrow::Status::OK();
  return arrow::Status::Invalid("SequentialSchedule: the state is too long, got ",
                                state.size(), " values");
}

}  // namespace xshards::learn
