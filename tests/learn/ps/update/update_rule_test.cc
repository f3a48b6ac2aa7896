// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/update/update_rule.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

constexpr int kSteps = 30;
constexpr int64_t kCount = 37;  // not a multiple of any vector width

/// One element and its states, updated in double by the formulas as published.
struct Element {
  double w = 0;
  double s0 = 0;
  double s1 = 0;
  double s2 = 0;
};
using Reference = std::function<void(Element&, double gradient, int step)>;

struct RuleCase {
  const char* label;
  UpdateRule rule;
  Reference reference;
};

void PrintTo(const RuleCase& rule_case, std::ostream* out) { *out << rule_case.label; }

void AdamReference(Element& e, double g, int t, bool amsgrad, double decoupled) {
  e.w *= 1 - 1e-2 * decoupled;
  e.s0 = 0.8 * e.s0 + 0.2 * g;
  e.s1 = 0.95 * e.s1 + 0.05 * g * g;
  e.s2 = std::max(e.s2, e.s1);
  const double mean = e.s0 / (1 - std::pow(0.8, t));
  const double square = (amsgrad ? e.s2 : e.s1) / (1 - std::pow(0.95, t));
  e.w -= 1e-2 * mean / (std::sqrt(square) + 1e-8);
}

void RmsPropReference(Element& e, double g, bool centered, double momentum) {
  e.s0 = 0.9 * e.s0 + 0.1 * g * g;
  double variance = e.s0;
  if (centered) {
    e.s1 = 0.9 * e.s1 + 0.1 * g;
    variance -= e.s1 * e.s1;
  }
  double& buffer = centered ? e.s2 : e.s1;
  double direction = g / (std::sqrt(variance) + 1e-3);
  if (momentum > 0) direction = buffer = momentum * buffer + direction;
  e.w -= 1e-2 * direction;
}

void FtrlReference(Element& e, double g, double power, double l1, double l2,
                   double shrinkage) {
  g += 2 * shrinkage * e.w;
  const double after = e.s0 + g * g;
  e.s1 += g - (std::pow(after, power) - std::pow(e.s0, power)) / 0.05 * e.w;
  e.s0 = after;
  const double quadratic = std::pow(after, power) / 0.05 + 2 * l2;
  e.w = std::abs(e.s1) > l1 ? (std::copysign(l1, e.s1) - e.s1) / quadratic : 0;
}

std::vector<RuleCase> Cases() {
  const Adam adam{.learning_rate = 1e-2, .beta1 = 0.8, .beta2 = 0.95};
  auto amsgrad = adam;
  amsgrad.amsgrad = true;
  auto adamw = adam;
  adamw.decoupled_weight_decay = true;
  adamw.weight_decay = 0.3;
  const RmsProp rms{.learning_rate = 1e-2, .alpha = 0.9, .epsilon = 1e-3};
  auto centered = rms;
  centered.centered = true;
  auto rolling = rms;
  rolling.momentum = 0.7;
  auto both = rolling;
  both.centered = true;
  return {
      {"sgd", Sgd{.learning_rate = 0.1},
       [](Element& e, double g, int) { e.w -= 0.1 * g; }},
      {"sgd_momentum", Sgd{.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5},
       [](Element& e, double g, int t) {
         e.s0 = t == 1 ? g : 0.9 * e.s0 + 0.5 * g;
         e.w -= 0.1 * e.s0;
       }},
      {"sgd_nesterov", Sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true},
       [](Element& e, double g, int t) {
         e.s0 = t == 1 ? g : 0.9 * e.s0 + g;
         e.w -= 0.1 * (g + 0.9 * e.s0);
       }},
      {"sgd_decay_up", Sgd{.learning_rate = 0.1, .weight_decay = 0.2, .maximize = true},
       [](Element& e, double g, int) { e.w -= 0.1 * (-g + 0.2 * e.w); }},
      {"adam", adam,
       [](Element& e, double g, int t) { AdamReference(e, g, t, false, 0); }},
      {"amsgrad", amsgrad,
       [](Element& e, double g, int t) { AdamReference(e, g, t, true, 0); }},
      {"adamw", adamw,
       [](Element& e, double g, int t) { AdamReference(e, g, t, false, 0.3); }},
      {"adagrad", Adagrad{.learning_rate = 0.1, .learning_rate_decay = 0.01},
       [](Element& e, double g, int t) {
         e.s0 += g * g;
         e.w -= 0.1 / (1 + (t - 1) * 0.01) * g / (std::sqrt(e.s0) + 1e-10);
       }},
      {"adadelta", Adadelta{.learning_rate = 0.5, .rho = 0.8},
       [](Element& e, double g, int) {
         e.s0 = 0.8 * e.s0 + 0.2 * g * g;
         const double delta = std::sqrt(e.s1 + 1e-6) / std::sqrt(e.s0 + 1e-6) * g;
         e.s1 = 0.8 * e.s1 + 0.2 * delta * delta;
         e.w -= 0.5 * delta;
       }},
      {"adamax", Adamax{.learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.9},
       [](Element& e, double g, int t) {
         e.s0 = 0.8 * e.s0 + 0.2 * g;
         e.s1 = std::max(0.9 * e.s1, std::abs(g) + 1e-8);
         e.w -= 0.1 / (1 - std::pow(0.8, t)) * e.s0 / e.s1;
       }},
      {"rmsprop", rms,
       [](Element& e, double g, int) { RmsPropReference(e, g, false, 0); }},
      {"rmsprop_centered", centered,
       [](Element& e, double g, int) { RmsPropReference(e, g, true, 0); }},
      {"rmsprop_momentum", rolling,
       [](Element& e, double g, int) { RmsPropReference(e, g, false, 0.7); }},
      {"rmsprop_both", both,
       [](Element& e, double g, int) { RmsPropReference(e, g, true, 0.7); }},
      {"ftrl",
       Ftrl{.learning_rate = 0.05, .initial_accumulator = 0, .l1 = 0.3, .l2 = 0.1},
       [](Element& e, double g, int) { FtrlReference(e, g, 0.5, 0.3, 0.1, 0); }},
      {"ftrl_power",
       Ftrl{.learning_rate = 0.05,
            .learning_rate_power = -0.7,
            .initial_accumulator = 0,
            .l2_shrinkage = 0.2},
       [](Element& e, double g, int) { FtrlReference(e, g, 0.7, 0, 0, 0.2); }},
  };
}

template <typename T>
struct Trained {
  std::vector<T> values[4];  // weights and three states
};

/// The gradients of all steps, the same for every type and target.
std::vector<double> Gradients() {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> gradients(kSteps * kCount);
  for (double& value : gradients) value = static_cast<float>(normal(random));
  return gradients;
}

double FirstWeight(int64_t i) { return 0.25 * static_cast<double>(i - kCount / 2); }

template <typename T>
Trained<T> Train(const UpdateRule& rule, CpuTarget target) {
  const auto& kernels = KernelsFor<T>(target);
  const auto gradients = Gradients();
  Trained<T> trained;
  for (auto& values : trained.values) values.assign(kCount, T{0});
  for (int64_t i = 0; i < kCount; ++i) {
    trained.values[0][static_cast<size_t>(i)] = static_cast<T>(FirstWeight(i));
  }
  for (int step = 1; step <= kSteps; ++step) {
    const auto* from = gradients.data() + (step - 1) * kCount;
    std::vector<T> gradient(from, from + kCount);
    const UpdateStep update = StepOf(rule, step);
    if (update.maximize) kernels.scale(kCount, T{-1}, gradient.data());
    kernels.add_scaled(kCount, static_cast<T>(update.coupled_weight_decay),
                       trained.values[0].data(), gradient.data());
    const UpdateBlock<T> block{
        .count = kCount,
        .gradient = gradient.data(),
        .weights = trained.values[0].data(),
        .states = {trained.values[1].data(), trained.values[2].data(),
                   trained.values[3].data()}};
    kernels.update[static_cast<size_t>(update.kind)](update.coefficients, block);
  }
  return trained;
}

class UpdateRuleCases : public ::testing::TestWithParam<RuleCase> {};

template <typename T>
void ExpectReference(const RuleCase& rule_case, double tolerance) {
  const auto trained = Train<T>(rule_case.rule, CpuTarget::kBaseline);
  const auto gradients = Gradients();
  for (int64_t i = 0; i < kCount; ++i) {
    Element element{.w = FirstWeight(i)};
    for (int step = 1; step <= kSteps; ++step) {
      rule_case.reference(element,
                          gradients[static_cast<size_t>((step - 1) * kCount + i)], step);
    }
    const auto index = static_cast<size_t>(i);
    EXPECT_NEAR(static_cast<double>(trained.values[0][index]), element.w,
                tolerance * (1 + std::abs(element.w)))
        << "element " << i;
  }
}

TEST_P(UpdateRuleCases, EqualTheScalarReference) {
  ASSERT_OK(Validate(GetParam().rule));
  ExpectReference<double>(GetParam(), 1e-12);
  ExpectReference<float>(GetParam(), 1e-4);
}

TEST_P(UpdateRuleCases, GiveTheSameBitsOnEveryProcessorFamily) {
  const auto expected = Train<float>(GetParam().rule, CpuTarget::kBaseline);
  const auto expected_wide = Train<double>(GetParam().rule, CpuTarget::kBaseline);
  for (CpuTarget target : {CpuTarget::kAvx2, CpuTarget::kAvx512}) {
    if (!IsSupported(target)) continue;
    const auto trained = Train<float>(GetParam().rule, target);
    const auto wide = Train<double>(GetParam().rule, target);
    for (size_t vector = 0; vector < 4; ++vector) {
      EXPECT_EQ(trained.values[vector], expected.values[vector]);
      EXPECT_EQ(wide.values[vector], expected_wide.values[vector]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, UpdateRuleCases, ::testing::ValuesIn(Cases()),
                         [](const auto& about) { return about.param.label; });

TEST(UpdateKernels, NanIsPropagated) {
  const auto& kernels = KernelsFor<float>(BestTarget());
  std::vector<float> values(9, std::nanf(""));
  kernels.clamp(9, -1, 1, values.data());
  for (float value : values) EXPECT_TRUE(std::isnan(value));

  std::vector<float> weights(9, 1), mean(9), norm(9, 5);
  const UpdateBlock<float> block{.count = 9,
                                 .gradient = values.data(),
                                 .weights = weights.data(),
                                 .states = {mean.data(), norm.data(), nullptr}};
  const auto update = StepOf(Adamax{}, 1);
  kernels.update[static_cast<size_t>(update.kind)](update.coefficients, block);
  for (float value : weights) EXPECT_TRUE(std::isnan(value));
  for (float value : norm) EXPECT_TRUE(std::isnan(value));
}

TEST(UpdateKernels, SumOfSquaresIsTheSameOnEveryProcessorFamily) {
  const auto gradients = Gradients();
  const auto count = static_cast<int64_t>(gradients.size());
  double expected = 0;
  for (double value : gradients) expected += value * value;
  const double sum =
      KernelsFor<double>(CpuTarget::kBaseline).sum_of_squares(count, gradients.data());
  EXPECT_NEAR(sum, expected, 1e-9);
  for (CpuTarget target : {CpuTarget::kAvx2, CpuTarget::kAvx512}) {
    if (!IsSupported(target)) continue;
    EXPECT_EQ(KernelsFor<double>(target).sum_of_squares(count, gradients.data()), sum);
  }
  EXPECT_EQ(KernelsFor<double>(BestTarget()).sum_of_squares(0, gradients.data()), 0);
}

TEST(UpdateRule, IsMadeByNameWithTorchsDefaults) {
  ASSERT_OK_AND_ASSIGN(auto adamw, MakeUpdateRule("adamw", {{"learning_rate", 0.5}}));
  EXPECT_EQ(NameOf(adamw), "adamw");
  EXPECT_EQ(LearningRateOf(adamw), 0.5);
  EXPECT_EQ(std::get<Adam>(adamw).weight_decay, 1e-2);
  ASSERT_OK_AND_ASSIGN(auto sgd,
                       MakeUpdateRule("sgd", {{"momentum", 0.9}, {"nesterov", 1}}));
  EXPECT_TRUE(std::get<Sgd>(sgd).nesterov);
  SetLearningRate(&sgd, 3);
  EXPECT_EQ(LearningRateOf(sgd), 3);
}

TEST(UpdateRule, KeepsOnlyTheStatesItNeeds) {
  EXPECT_EQ(StatesOf(Sgd{}).size(), 0U);
  EXPECT_EQ(StatesOf(Sgd{.momentum = 0.9}).size(), 1U);
  EXPECT_EQ(StatesOf(Adam{.amsgrad = true})[2].name, "max_exp_avg_sq");
  EXPECT_EQ(StatesOf(RmsProp{.momentum = 0.9})[1].name, "momentum_buffer");
  EXPECT_EQ(StatesOf(Ftrl{})[0].initial_value, 0.1);
}

TEST(UpdateRule, ErrorsNameTheOption) {
  EXPECT_FAILS(Invalid, "got 'lion'", MakeUpdateRule("lion", {}));
  EXPECT_FAILS(Invalid, "got 'betas'", MakeUpdateRule("adam", {{"betas", 1}}));
  EXPECT_FAILS(Invalid, "adam: beta2 must be below 1, got 1",
               MakeUpdateRule("adam", {{"beta2", 1}}));
  EXPECT_FAILS(Invalid, "adadelta: rho must be at most 1, got 2",
               MakeUpdateRule("adadelta", {{"rho", 2}}));
  EXPECT_FAILS(Invalid, "sgd: learning_rate must be at least 0, got -1",
               MakeUpdateRule("sgd", {{"learning_rate", -1}}));
  EXPECT_FAILS(Invalid, "learning_rate must be finite",
               MakeUpdateRule("sgd", {{"learning_rate", NAN}}));
  EXPECT_FAILS(Invalid, "nesterov needs", MakeUpdateRule("sgd", {{"nesterov", 1}}));
  EXPECT_FAILS(Invalid, "learning_rate_power must be at most 0, got 1",
               MakeUpdateRule("ftrl", {{"learning_rate_power", 1}}));
  EXPECT_FAILS(Invalid, "must be above 0",
               MakeUpdateRule("ftrl", {{"learning_rate", 0}}));
}

}  // namespace
}  // namespace xshards::learn
