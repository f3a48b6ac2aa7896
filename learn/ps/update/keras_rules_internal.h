// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "learn/ps/update/keras_rules.h"
#include "learn/ps/update/update_rule.h"

namespace xshards::learn {

// What update_rule.cc asks of each rule: one step, the vectors it keeps (named as Keras
// names its variables), and its own name.

UpdateStep MakeStep(const KerasSgd& rule, int64_t step);
UpdateStep MakeStep(const KerasAdam& rule, int64_t step);
UpdateStep MakeStep(const KerasRmsProp& rule, int64_t step);
UpdateStep MakeStep(const KerasAdagrad& rule, int64_t step);
UpdateStep MakeStep(const KerasAdadelta& rule, int64_t step);
UpdateStep MakeStep(const KerasAdamax& rule, int64_t step);
UpdateStep MakeStep(const KerasNadam& rule, int64_t step);
UpdateStep MakeStep(const KerasFtrl& rule, int64_t step);
UpdateStep MakeStep(const KerasLion& rule, int64_t step);

std::vector<RuleState> States(const KerasSgd& rule);
std::vector<RuleState> States(const KerasAdam& rule);
std::vector<RuleState> States(const KerasRmsProp& rule);
std::vector<RuleState> States(const KerasAdagrad& rule);
std::vector<RuleState> States(const KerasAdadelta& rule);
std::vector<RuleState> States(const KerasAdamax& rule);
std::vector<RuleState> States(const KerasNadam& rule);
std::vector<RuleState> States(const KerasFtrl& rule);
std::vector<RuleState> States(const KerasLion& rule);

struct KerasRuleName {
  std::string_view operator()(const KerasSgd&) const { return "keras_sgd"; }
  std::string_view operator()(const KerasAdam&) const { return "keras_adam"; }
  std::string_view operator()(const KerasRmsProp&) const { return "keras_rmsprop"; }
  std::string_view operator()(const KerasAdagrad&) const { return "keras_adagrad"; }
  std::string_view operator()(const KerasAdadelta&) const { return "keras_adadelta"; }
  std::string_view operator()(const KerasAdamax&) const { return "keras_adamax"; }
  std::string_view operator()(const KerasNadam&) const { return "keras_nadam"; }
  std::string_view operator()(const KerasFtrl&) const { return "keras_ftrl"; }
  std::string_view operator()(const KerasLion&) const { return "keras_lion"; }
};

}  // namespace xshards::learn
