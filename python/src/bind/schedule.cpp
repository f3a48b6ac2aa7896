// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "learn/schedule/learning_rate_schedule.h"
#include "python/src/bindings.h"
#include "python/src/convert/status_exception.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

using learn::LearningRateSchedule;
using learn::SchedulePtr;

/// Wrap a factory so that it raises instead of returning a failed result.
template <typename... Arguments>
auto Raising(arrow::Result<SchedulePtr> (*make)(Arguments...)) {
  return [make](Arguments... arguments) { return Unwrap(make(std::move(arguments)...)); };
}

SchedulePtr MakePlateau(double factor, int64_t patience, bool maximize, double epsilon,
                        int64_t cooldown, double min_rate) {
  return Unwrap(learn::MakePlateauSchedule({.factor = factor,
                                            .patience = patience,
                                            .maximize = maximize,
                                            .epsilon = epsilon,
                                            .cooldown = cooldown,
                                            .min_rate = min_rate}));
}

SchedulePtr MakeSequential(const std::vector<std::pair<SchedulePtr, int64_t>>& parts) {
  auto sequence = std::make_shared<learn::SequentialSchedule>();
  for (const auto& [schedule, max_iteration] : parts) {
    Unwrap(sequence->Add(schedule, max_iteration));
  }
  return sequence;
}

}  // namespace

void BindSchedule(py::module_& module) {
  py::class_<LearningRateSchedule, SchedulePtr>(module, "LearningRateSchedule")
      .def_static("default", Raising(&learn::MakeDefaultSchedule))
      .def_static("poly", Raising(&learn::MakePolySchedule))
      .def_static("exponential", Raising(&learn::MakeExponentialSchedule))
      .def_static("step", Raising(&learn::MakeStepSchedule))
      .def_static("multi_step", Raising(&learn::MakeMultiStepSchedule))
      .def_static("warmup", Raising(&learn::MakeWarmupSchedule))
      .def_static("plateau", &MakePlateau, py::kw_only(), py::arg("factor") = 0.1,
                  py::arg("patience") = 10, py::arg("maximize") = false,
                  py::arg("epsilon") = 1e-4, py::arg("cooldown") = 0,
                  py::arg("min_rate") = 0.0)
      .def_static("sequential", &MakeSequential)
      .def("rate_at", [](const LearningRateSchedule& self, double base_rate,
                         int64_t iteration) { return self.RateAt(base_rate, iteration); })
      .def("observe", &LearningRateSchedule::Observe)
      .def_property_readonly("state", &LearningRateSchedule::State)
      .def("restore", [](LearningRateSchedule& self, const std::vector<double>& state) {
        Unwrap(self.Restore(state));
      });
}

}  // namespace xshards::python
