// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/update/keras_rules.h"

#include <cmath>

#include "learn/ps/update/keras_rules_internal.h"

namespace xshards::learn {

namespace {

template <typename Rule>
double DecayScale(const Rule& rule) {
  return 1 - rule.learning_rate * rule.weight_decay;
}

/// Nadam's momentum of one step, which grows towards beta1.
double NadamMomentum(double beta1, double step) {
  return beta1 * (1 - 0.5 * std::pow(0.96, step));
}

/// The product of the momenta of all steps up to this one.
double NadamProduct(double beta1, int64_t step) {
  double product = 1;
  for (int64_t index = 1; index <= step && product > 1e-30; ++index) {
    product *= NadamMomentum(beta1, static_cast<double>(index));
  }
  return product;
}

}  // namespace

UpdateStep MakeStep(const KerasSgd& rule, int64_t) {
  return {.kind = RuleKind::kKerasSgd,
          .weight_scale = DecayScale(rule),
          .coefficients = {.learning_rate = rule.learning_rate,
                           .momentum = rule.momentum,
                           .nesterov = rule.nesterov}};
}

UpdateStep MakeStep(const KerasAdam& rule, int64_t step) {
  const auto count = static_cast<double>(step);
  // The root of the second correction is in the rate, so epsilon stays uncorrected.
  const double rate = rule.learning_rate * std::sqrt(1 - std::pow(rule.beta2, count)) /
                      (1 - std::pow(rule.beta1, count));
  return {.kind = RuleKind::kAdam,
          .weight_scale = DecayScale(rule),
          .coefficients = {.learning_rate = rate,
                           .beta1 = rule.beta1,
                           .beta2 = rule.beta2,
                           .epsilon = rule.epsilon,
                           .amsgrad = rule.amsgrad}};
}

UpdateStep MakeStep(const KerasRmsProp& rule, int64_t) {
  return {.kind = RuleKind::kKerasRmsProp,
          .weight_scale = DecayScale(rule),
          .coefficients = {.learning_rate = rule.learning_rate,
                           .momentum = rule.momentum,
                           .beta1 = rule.rho,
                           .epsilon = rule.epsilon,
                           .centered = rule.centered}};
}

UpdateStep MakeStep(const KerasAdagrad& rule, int64_t) {
  return {.kind = RuleKind::kKerasAdagrad,
          .weight_scale = DecayScale(rule),
          .coefficients = {.learning_rate = rule.learning_rate, .epsilon = rule.epsilon}};
}

UpdateStep MakeStep(const KerasAdadelta& rule, int64_t) {
  return {.kind = RuleKind::kAdadelta,
          .weight_scale = DecayScale(rule),
          .coefficients = {.learning_rate = rule.learning_rate,
                           .beta1 = rule.rho,
                           .epsilon = rule.epsilon}};
}

UpdateStep MakeStep(const KerasAdamax& rule, int64_t step) {
  const double bias = 1 - std::pow(rule.beta1, static_cast<double>(step));
  return {.kind = RuleKind::kKerasAdamax,
          .weight_scale = DecayScale(rule),
          .coefficients = {.learning_rate = rule.learning_rate / bias,
                           .beta1 = rule.beta1,
                           .beta2 = rule.beta2,
                           .epsilon = rule.epsilon}};
}

UpdateStep MakeStep(const KerasNadam& rule, int64_t step) {
  const auto count = static_cast<double>(step);
  const double product = NadamProduct(rule.beta1, step);
  const double next = NadamMomentum(rule.beta1, count + 1);
  return {.kind = RuleKind::kKerasNadam,
          .weight_scale = DecayScale(rule),
          .coefficients = {
              .learning_rate = rule.learning_rate,
              .mean_weight = next / (1 - product * next),
              .gradient_weight = (1 - NadamMomentum(rule.beta1, count)) / (1 - product),
              .beta1 = rule.beta1,
              .beta2 = rule.beta2,
              .epsilon = rule.epsilon,
              .inverse_root_bias2 = 1 / std::sqrt(1 - std::pow(rule.beta2, count))}};
}

UpdateStep MakeStep(const KerasFtrl& rule, int64_t) {
  return {.kind = RuleKind::kKerasFtrl,
          .weight_scale = DecayScale(rule),
          .coefficients = {.learning_rate = rule.learning_rate,
                           .power = -rule.learning_rate_power,
                           .l1 = rule.l1,
                           .l2 = rule.l2 + rule.beta / (2 * rule.learning_rate),
                           .l2_shrinkage = rule.l2_shrinkage}};
}

UpdateStep MakeStep(const KerasLion& rule, int64_t) {
  return {
      .kind = RuleKind::kKerasLion,
      .weight_scale = DecayScale(rule),
      .coefficients = {
          .learning_rate = rule.learning_rate, .beta1 = rule.beta1, .beta2 = rule.beta2}};
}

std::vector<RuleState> States(const KerasSgd& rule) {
  if (rule.momentum == 0) return {};
  return {{.name = "momentum"}};
}

std::vector<RuleState> States(const KerasAdam& rule) {
  std::vector<RuleState> states = {{.name = "momentum"}, {.name = "velocity"}};
  if (rule.amsgrad) states.push_back({.name = "velocity_hat"});
  return states;
}

std::vector<RuleState> States(const KerasRmsProp& rule) {
  std::vector<RuleState> states = {{.name = "velocity"}};
  if (rule.centered) states.push_back({.name = "average_gradient"});
  if (rule.momentum > 0) states.push_back({.name = "momentum"});
  return states;
}

std::vector<RuleState> States(const KerasAdagrad& rule) {
  return {{.name = "accumulator", .initial_value = rule.initial_accumulator}};
}

std::vector<RuleState> States(const KerasAdadelta&) {
  return {{.name = "accumulated_grad"}, {.name = "accumulated_delta_var"}};
}

std::vector<RuleState> States(const KerasAdamax&) {
  return {{.name = "momentum"}, {.name = "norm"}};
}

std::vector<RuleState> States(const KerasNadam&) {
  return {{.name = "momentum"}, {.name = "velocity"}};
}

std::vector<RuleState> States(const KerasFtrl& rule) {
  return {{.name = "accumulator", .initial_value = rule.initial_accumulator},
          {.name = "linear"}};
}

std::vector<RuleState> States(const KerasLion&) { return {{.name = "momentum"}}; }

}  // namespace xshards::learn
