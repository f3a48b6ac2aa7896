// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/update/keras_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "learn/ps/update/update_rule.h"
#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

constexpr int kKerasSteps = 40;
constexpr int64_t kKerasCount = 21;  // not a multiple of any vector width

struct KerasElement {
  double w = 0;
  double s0 = 0;
  double s1 = 0;
  double s2 = 0;
};
struct KerasCase {
  const char* label;
  UpdateRule rule;
  std::function<void(KerasElement&, double gradient, int step)> reference;
};
void PrintTo(const KerasCase& one, std::ostream* out) { *out << one.label; }

// The formulas are those of keras/src/optimizers, written for one element.
std::vector<KerasCase> KerasCases() {
  return {
      {"sgd", KerasSgd{.learning_rate = 0.1, .weight_decay = 0.2},
       [](KerasElement& e, double g, int) {
         e.w -= e.w * 0.2 * 0.1;
         e.w -= 0.1 * g;
       }},
      {"momentum", KerasSgd{.learning_rate = 0.1, .momentum = 0.9},
       [](KerasElement& e, double g, int) {
         e.s0 = 0.9 * e.s0 - 0.1 * g;
         e.w += e.s0;
       }},
      {"nesterov", KerasSgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true},
       [](KerasElement& e, double g, int) {
         e.s0 = 0.9 * e.s0 - 0.1 * g;
         e.w += 0.9 * e.s0 - 0.1 * g;
       }},
      {"adam", KerasAdam{.learning_rate = 0.1, .epsilon = 1e-2, .weight_decay = 0.1},
       [](KerasElement& e, double g, int t) {
         e.w -= e.w * 0.1 * 0.1;
         e.s0 += (g - e.s0) * 0.1;
         e.s1 += (g * g - e.s1) * 0.001;
         const double alpha =
             0.1 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
         e.w -= e.s0 * alpha / (std::sqrt(e.s1) + 1e-2);
       }},
      {"rmsprop",
       KerasRmsProp{
           .learning_rate = 0.1, .momentum = 0.7, .epsilon = 1e-2, .centered = true},
       [](KerasElement& e, double g, int) {
         e.s0 = 0.9 * e.s0 + 0.1 * g * g;
         e.s1 = 0.9 * e.s1 + 0.1 * g;
         e.s2 = 0.7 * e.s2 + 0.1 * g / std::sqrt(e.s0 - e.s1 * e.s1 + 1e-2);
         e.w -= e.s2;
       }},
      {"adagrad",
       KerasAdagrad{.learning_rate = 0.1, .initial_accumulator = 0, .epsilon = 1e-2},
       [](KerasElement& e, double g, int) {
         e.s0 += g * g;
         e.w -= 0.1 * g / std::sqrt(e.s0 + 1e-2);
       }},
      {"adadelta", KerasAdadelta{.learning_rate = 0.5, .epsilon = 1e-2},
       [](KerasElement& e, double g, int) {
         e.s0 = 0.95 * e.s0 + 0.05 * g * g;
         const double delta = -std::sqrt(e.s1 + 1e-2) * g / std::sqrt(e.s0 + 1e-2);
         e.s1 = 0.95 * e.s1 + 0.05 * delta * delta;
         e.w += 0.5 * delta;
       }},
      {"adamax", KerasAdamax{.learning_rate = 0.1, .epsilon = 1e-2},
       [](KerasElement& e, double g, int t) {
         e.s0 += (g - e.s0) * 0.1;
         e.s1 = std::max(0.999 * e.s1, std::abs(g));
         e.w -= 0.1 * e.s0 / ((1 - std::pow(0.9, t)) * (e.s1 + 1e-2));
       }},
      {"nadam", KerasNadam{.learning_rate = 0.1, .epsilon = 1e-2},
       [](KerasElement& e, double g, int t) {
         double product = 1;
         auto momentum = [](int step) { return 0.9 * (1 - 0.5 * std::pow(0.96, step)); };
         for (int step = 1; step <= t; ++step) product *= momentum(step);
         e.s0 += (g - e.s0) * 0.1;
         e.s1 += (g * g - e.s1) * 0.001;
         const double mean = momentum(t + 1) * e.s0 / (1 - product * momentum(t + 1)) +
                             (1 - momentum(t)) * g / (1 - product);
         e.w -= mean * 0.1 / (std::sqrt(e.s1 / (1 - std::pow(0.999, t))) + 1e-2);
       }},
      {"ftrl",
       KerasFtrl{.learning_rate = 0.1,
                 .initial_accumulator = 0,
                 .l1 = 0.3,
                 .l2 = 0.1,
                 .l2_shrinkage = 0.2,
                 .beta = 0.4},
       [](KerasElement& e, double g, int) {
         const double after = e.s0 + g * g;
         e.s1 += g + 2 * 0.2 * e.w - (std::sqrt(after) - std::sqrt(e.s0)) / 0.1 * e.w;
         e.s0 = after;
         const double quadratic = std::sqrt(after) / 0.1 + 2 * (0.1 + 0.4 / 0.2);
         e.w = (std::clamp(e.s1, -0.3, 0.3) - e.s1) / quadratic;
       }},
      {"lion", KerasLion{.learning_rate = 0.1},
       [](KerasElement& e, double g, int) {
         const double direction = 0.9 * e.s0 + (1 - 0.9) * g;
         e.w -= 0.1 * (direction > 0 ? 1 : direction < 0 ? -1 : 0);
         e.s0 = 0.99 * e.s0 + (1 - 0.99) * g;
       }},
  };
}

double KerasGradient(int64_t element, int step) {
  return static_cast<float>(std::sin(static_cast<double>(element * 31 + step * 17)));
}

template <typename T>
std::vector<T> TrainKeras(const UpdateRule& rule, CpuTarget target) {
  const auto& kernels = KernelsFor<T>(target);
  std::vector<T> values[4];
  for (auto& one : values) one.assign(kKerasCount, T{0});
  for (size_t i = 0; i < values[0].size(); ++i) values[0][i] = static_cast<T>(i) / 8;
  for (int step = 1; step <= kKerasSteps; ++step) {
    std::vector<T> gradient(kKerasCount);
    for (int64_t i = 0; i < kKerasCount; ++i) {
      gradient[static_cast<size_t>(i)] = static_cast<T>(KerasGradient(i, step));
    }
    const UpdateStep update = StepOf(rule, step);
    kernels.scale(kKerasCount, static_cast<T>(update.weight_scale), values[0].data());
    const UpdateBlock<T> block{
        .count = kKerasCount,
        .gradient = gradient.data(),
        .weights = values[0].data(),
        .states = {values[1].data(), values[2].data(), values[3].data()}};
    kernels.update[static_cast<size_t>(update.kind)](update.coefficients, block);
  }
  return values[0];
}

class KerasRuleCases : public ::testing::TestWithParam<KerasCase> {};

TEST_P(KerasRuleCases, EqualTheScalarReference) {
  ASSERT_OK(Validate(GetParam().rule));
  const auto wide = TrainKeras<double>(GetParam().rule, CpuTarget::kBaseline);
  const auto narrow = TrainKeras<float>(GetParam().rule, CpuTarget::kBaseline);
  for (int64_t i = 0; i < kKerasCount; ++i) {
    KerasElement element{.w = static_cast<double>(i) / 8};
    for (int step = 1; step <= kKerasSteps; ++step) {
      GetParam().reference(element, KerasGradient(i, step), step);
    }
    const auto index = static_cast<size_t>(i);
    EXPECT_NEAR(wide[index], element.w, 1e-12 * (1 + std::abs(element.w)));
    EXPECT_NEAR(static_cast<double>(narrow[index]), element.w,
                1e-4 * (1 + std::abs(element.w)));
  }
}

TEST_P(KerasRuleCases, GiveTheSameBitsOnEveryProcessorFamily) {
  const auto expected = TrainKeras<float>(GetParam().rule, CpuTarget::kBaseline);
  for (CpuTarget target : {CpuTarget::kAvx2, CpuTarget::kAvx512}) {
    if (!IsSupported(target)) continue;
    EXPECT_EQ(TrainKeras<float>(GetParam().rule, target), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KerasRuleCases, ::testing::ValuesIn(KerasCases()),
                         [](const auto& about) { return about.param.label; });

TEST(KerasRules, AreMadeByNameWithKerasDefaults) {
  for (const char* name : {"sgd", "adam", "rmsprop", "adagrad", "adadelta", "adamax",
                           "nadam", "ftrl", "lion"}) {
    const auto whole = std::string("keras_") + name;
    ASSERT_OK_AND_ASSIGN(auto rule, MakeUpdateRule(whole, {}));
    EXPECT_EQ(NameOf(rule), whole);
  }
  ASSERT_OK_AND_ASSIGN(auto adam, MakeUpdateRule("keras_adam", {{"amsgrad", 1}}));
  EXPECT_EQ(std::get<KerasAdam>(adam).epsilon, 1e-7);
  EXPECT_EQ(StatesOf(adam)[2].name, "velocity_hat");
  EXPECT_EQ(StatesOf(KerasSgd{}).size(), 0U);
  EXPECT_EQ(StatesOf(KerasAdagrad{})[0].initial_value, 0.1);
  EXPECT_FAILS(Invalid, "keras_ftrl: learning_rate must be above 0",
               MakeUpdateRule("keras_ftrl", {{"learning_rate", 0}}));
}

TEST(KerasRules, LionPassesNotANumberOn) {
  const auto update = StepOf(KerasLion{}, 1);
  std::vector<float> gradient(9, std::nanf("")), weights(9, 1), mean(9);
  const UpdateBlock<float> block{.count = 9,
                                 .gradient = gradient.data(),
                                 .weights = weights.data(),
                                 .states = {mean.data(), nullptr, nullptr}};
  KernelsFor<float>(BestTarget())
      .update[static_cast<size_t>(update.kind)](update.coefficients, block);
  for (float value : weights) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace xshards::learn
