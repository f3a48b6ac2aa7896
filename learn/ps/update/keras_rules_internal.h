// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "learn/ps/update/keras_rules.h"
#include "learn/ps/update/update_rule.h"

namespace xshards::learn {

// What update_rule.cc asks of each rule: its hyper-parameters by name, one step, the
// vectors it keeps (named as Keras names its variables), and its own name.

template <typename Visit>
void VisitMembers(KerasSgd& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("momentum", rule.momentum);
  visit("weight_decay", rule.weight_decay);
  visit("nesterov", rule.nesterov);
}

template <typename Visit>
void VisitMembers(KerasAdam& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("beta1", rule.beta1);
  visit("beta2", rule.beta2);
  visit("epsilon", rule.epsilon);
  visit("weight_decay", rule.weight_decay);
  visit("amsgrad", rule.amsgrad);
}

template <typename Visit>
void VisitMembers(KerasRmsProp& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("rho", rule.rho);
  visit("momentum", rule.momentum);
  visit("epsilon", rule.epsilon);
  visit("weight_decay", rule.weight_decay);
  visit("centered", rule.centered);
}

template <typename Visit>
void VisitMembers(KerasAdagrad& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("initial_accumulator", rule.initial_accumulator);
  visit("epsilon", rule.epsilon);
  visit("weight_decay", rule.weight_decay);
}

template <typename Visit>
void VisitMembers(KerasAdadelta& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("rho", rule.rho);
  visit("epsilon", rule.epsilon);
  visit("weight_decay", rule.weight_decay);
}

template <typename Visit>
void VisitMembers(KerasAdamax& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("beta1", rule.beta1);
  visit("beta2", rule.beta2);
  visit("epsilon", rule.epsilon);
  visit("weight_decay", rule.weight_decay);
}

template <typename Visit>
void VisitMembers(KerasNadam& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("beta1", rule.beta1);
  visit("beta2", rule.beta2);
  visit("epsilon", rule.epsilon);
  visit("weight_decay", rule.weight_decay);
}

template <typename Visit>
void VisitMembers(KerasFtrl& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("learning_rate_power", rule.learning_rate_power);
  visit("initial_accumulator", rule.initial_accumulator);
  visit("l1", rule.l1);
  visit("l2", rule.l2);
  visit("l2_shrinkage", rule.l2_shrinkage);
  visit("beta", rule.beta);
  visit("weight_decay", rule.weight_decay);
}

template <typename Visit>
void VisitMembers(KerasLion& rule, Visit visit) {
  visit("learning_rate", rule.learning_rate);
  visit("beta1", rule.beta1);
  visit("beta2", rule.beta2);
  visit("weight_decay", rule.weight_decay);
}

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
