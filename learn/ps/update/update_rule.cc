// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/update/update_rule.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "learn/ps/update/keras_rules_internal.h"

namespace xshards::learn {

namespace {

// Call `visit(name, member)` for every hyper-parameter that a rule has.
template <typename Rule, typename Visit>
void VisitMembers(Rule& rule, Visit visit) {
  if constexpr (requires { rule.learning_rate; })
    visit("learning_rate", rule.learning_rate);
  if constexpr (requires { rule.learning_rate_decay; })
    visit("learning_rate_decay", rule.learning_rate_decay);
  if constexpr (requires { rule.learning_rate_power; })
    visit("learning_rate_power", rule.learning_rate_power);
  if constexpr (requires { rule.momentum; }) visit("momentum", rule.momentum);
  if constexpr (requires { rule.dampening; }) visit("dampening", rule.dampening);
  if constexpr (requires { rule.alpha; }) visit("alpha", rule.alpha);
  if constexpr (requires { rule.rho; }) visit("rho", rule.rho);
  if constexpr (requires { rule.beta; }) visit("beta", rule.beta);
  if constexpr (requires { rule.beta1; }) visit("beta1", rule.beta1);
  if constexpr (requires { rule.beta2; }) visit("beta2", rule.beta2);
  if constexpr (requires { rule.epsilon; }) visit("epsilon", rule.epsilon);
  if constexpr (requires { rule.initial_accumulator; })
    visit("initial_accumulator", rule.initial_accumulator);
  if constexpr (requires { rule.l1; }) visit("l1", rule.l1);
  if constexpr (requires { rule.l2; }) visit("l2", rule.l2);
  if constexpr (requires { rule.l2_shrinkage; }) visit("l2_shrinkage", rule.l2_shrinkage);
  if constexpr (requires { rule.weight_decay; }) visit("weight_decay", rule.weight_decay);
  if constexpr (requires { rule.amsgrad; }) visit("amsgrad", rule.amsgrad);
  if constexpr (requires { rule.centered; }) visit("centered", rule.centered);
  if constexpr (requires { rule.nesterov; }) visit("nesterov", rule.nesterov);
  if constexpr (requires { rule.decoupled_weight_decay; })
    visit("decoupled_weight_decay", rule.decoupled_weight_decay);
  if constexpr (requires { rule.maximize; }) visit("maximize", rule.maximize);
}

arrow::Result<UpdateRule> DefaultsOf(std::string_view name) {
  if (name == "sgd") return Sgd{};
  if (name == "adam") return Adam{};
  if (name == "adamw") return Adam{.weight_decay = 1e-2, .decoupled_weight_decay = true};
  if (name == "adagrad") return Adagrad{};
  if (name == "adadelta") return Adadelta{};
  if (name == "adamax") return Adamax{};
  if (name == "rmsprop") return RmsProp{};
  if (name == "ftrl") return Ftrl{};
  if (name == "keras_sgd") return KerasSgd{};
  if (name == "keras_adam") return KerasAdam{};
  if (name == "keras_rmsprop") return KerasRmsProp{};
  if (name == "keras_adagrad") return KerasAdagrad{};
  if (name == "keras_adadelta") return KerasAdadelta{};
  if (name == "keras_adamax") return KerasAdamax{};
  if (name == "keras_nadam") return KerasNadam{};
  if (name == "keras_ftrl") return KerasFtrl{};
  if (name == "keras_lion") return KerasLion{};
  return arrow::Status::Invalid(
      "Expected an optimizer among sgd, adam, adamw, adagrad, adadelta, adamax, rmsprop, "
      "ftrl, or keras_ with sgd, adam, rmsprop, adagrad, adadelta, adamax, nadam, ftrl, "
      "lion; got '",
      name, "'");
}

arrow::Status SetMember(UpdateRule* rule, const std::string& wanted, double value) {
  bool found = false;
  std::string known;
  std::visit(
      [&](auto& typed) {
        VisitMembers(typed, [&](const char* name, auto& member) {
          known += known.empty() ? name : std::string(", ") + name;
          if (wanted != name) return;
          member = static_cast<std::remove_reference_t<decltype(member)>>(value);
          found = true;
        });
      },
      *rule);
  if (found) return arrow::Status::OK();
  return arrow::Status::Invalid("Optimizer ", NameOf(*rule),
                                " expects one of the options ", known, "; got '", wanted,
                                "'");
}

bool IsDecayRate(std::string_view name) {
  return name == "beta1" || name == "beta2" || name == "rho" || name == "alpha";
}

arrow::Status CheckMember(std::string_view rule, std::string_view name, double value) {
  if (!std::isfinite(value)) {
    return arrow::Status::Invalid(rule, ": ", name, " must be finite, got ", value);
  }
  if (name == "learning_rate_power") {
    if (value <= 0) return arrow::Status::OK();
    return arrow::Status::Invalid(rule, ": ", name, " must be at most 0, got ", value);
  }
  if (value < 0 && name != "dampening") {
    return arrow::Status::Invalid(rule, ": ", name, " must be at least 0, got ", value);
  }
  if (IsDecayRate(name) && value > 1) {
    return arrow::Status::Invalid(rule, ": ", name, " must be at most 1, got ", value);
  }
  if ((name == "beta1" || name == "beta2") && value == 1) {
    return arrow::Status::Invalid(rule, ": ", name, " must be below 1, got ", value);
  }
  return arrow::Status::OK();
}

arrow::Status CheckTogether(const UpdateRule& rule) {
  if (const auto* sgd = std::get_if<Sgd>(&rule)) {
    if (sgd->nesterov && (sgd->momentum <= 0 || sgd->dampening != 0)) {
      return arrow::Status::Invalid(
          "sgd: nesterov needs a momentum above 0 and no dampening, got momentum ",
          sgd->momentum, " and dampening ", sgd->dampening);
    }
  }
  const bool divides =
      std::holds_alternative<Ftrl>(rule) || std::holds_alternative<KerasFtrl>(rule);
  if (divides && LearningRateOf(rule) == 0) {
    return arrow::Status::Invalid(NameOf(rule), ": learning_rate must be above 0, got 0");
  }
  return arrow::Status::OK();
}

// What each rule computes once for a step.

UpdateStep MakeStep(const Sgd& rule, int64_t step) {
  return {.kind = RuleKind::kSgd,
          .coupled_weight_decay = rule.weight_decay,
          .maximize = rule.maximize,
          .coefficients = {.learning_rate = rule.learning_rate,
                           .momentum = rule.momentum,
                           .dampening = rule.dampening,
                           .first_step = step == 1,
                           .nesterov = rule.nesterov}};
}

UpdateStep MakeStep(const Adam& rule, int64_t step) {
  const auto count = static_cast<double>(step);
  const bool decoupled = rule.decoupled_weight_decay;
  return {.kind = RuleKind::kAdam,
          .coupled_weight_decay = decoupled ? 0 : rule.weight_decay,
          .maximize = rule.maximize,
          .coefficients = {
              .learning_rate = rule.learning_rate / (1 - std::pow(rule.beta1, count)),
              .weight_scale = decoupled ? 1 - rule.learning_rate * rule.weight_decay : 1,
              .beta1 = rule.beta1,
              .beta2 = rule.beta2,
              .epsilon = rule.epsilon,
              .inverse_root_bias2 = 1 / std::sqrt(1 - std::pow(rule.beta2, count)),
              .amsgrad = rule.amsgrad}};
}

UpdateStep MakeStep(const Adagrad& rule, int64_t step) {
  const auto previous = static_cast<double>(step - 1);
  return {.kind = RuleKind::kAdagrad,
          .coupled_weight_decay = rule.weight_decay,
          .maximize = rule.maximize,
          .coefficients = {.learning_rate = rule.learning_rate /
                                            (1 + previous * rule.learning_rate_decay),
                           .epsilon = rule.epsilon}};
}

UpdateStep MakeStep(const Adadelta& rule, int64_t) {
  return {.kind = RuleKind::kAdadelta,
          .coupled_weight_decay = rule.weight_decay,
          .maximize = rule.maximize,
          .coefficients = {.learning_rate = rule.learning_rate,
                           .beta1 = rule.rho,
                           .epsilon = rule.epsilon}};
}

UpdateStep MakeStep(const Adamax& rule, int64_t step) {
  const double bias = 1 - std::pow(rule.beta1, static_cast<double>(step));
  return {.kind = RuleKind::kAdamax,
          .coupled_weight_decay = rule.weight_decay,
          .maximize = rule.maximize,
          .coefficients = {.learning_rate = rule.learning_rate / bias,
                           .beta1 = rule.beta1,
                           .beta2 = rule.beta2,
                           .epsilon = rule.epsilon}};
}

UpdateStep MakeStep(const RmsProp& rule, int64_t) {
  return {.kind = RuleKind::kRmsProp,
          .coupled_weight_decay = rule.weight_decay,
          .maximize = rule.maximize,
          .coefficients = {.learning_rate = rule.learning_rate,
                           .momentum = rule.momentum,
                           .beta1 = rule.alpha,
                           .epsilon = rule.epsilon,
                           .centered = rule.centered}};
}

UpdateStep MakeStep(const Ftrl& rule, int64_t) {
  return {.kind = RuleKind::kFtrl,
          .coefficients = {.learning_rate = rule.learning_rate,
                           .power = -rule.learning_rate_power,
                           .l1 = rule.l1,
                           .l2 = rule.l2,
                           .l2_shrinkage = rule.l2_shrinkage}};
}

std::vector<RuleState> States(const Sgd& rule) {
  if (rule.momentum == 0) return {};
  return {{.name = "momentum_buffer"}};
}

std::vector<RuleState> States(const Adam& rule) {
  std::vector<RuleState> states = {{.name = "exp_avg"}, {.name = "exp_avg_sq"}};
  if (rule.amsgrad) states.push_back({.name = "max_exp_avg_sq"});
  return states;
}

std::vector<RuleState> States(const Adagrad& rule) {
  return {{.name = "sum", .initial_value = rule.initial_accumulator}};
}

std::vector<RuleState> States(const Adadelta&) {
  return {{.name = "square_avg"}, {.name = "acc_delta"}};
}

std::vector<RuleState> States(const Adamax&) {
  return {{.name = "exp_avg"}, {.name = "exp_inf"}};
}

std::vector<RuleState> States(const RmsProp& rule) {
  std::vector<RuleState> states = {{.name = "square_avg"}};
  if (rule.centered) states.push_back({.name = "grad_avg"});
  if (rule.momentum > 0) states.push_back({.name = "momentum_buffer"});
  return states;
}

std::vector<RuleState> States(const Ftrl& rule) {
  return {{.name = "accum", .initial_value = rule.initial_accumulator},
          {.name = "linear"}};
}

struct RuleName : KerasRuleName {
  using KerasRuleName::operator();
  std::string_view operator()(const Sgd&) const { return "sgd"; }
  std::string_view operator()(const Adam& rule) const {
    return rule.decoupled_weight_decay ? "adamw" : "adam";
  }
  std::string_view operator()(const Adagrad&) const { return "adagrad"; }
  std::string_view operator()(const Adadelta&) const { return "adadelta"; }
  std::string_view operator()(const Adamax&) const { return "adamax"; }
  std::string_view operator()(const RmsProp&) const { return "rmsprop"; }
  std::string_view operator()(const Ftrl&) const { return "ftrl"; }
};

}  // namespace

arrow::Result<UpdateRule> MakeUpdateRule(std::string_view name,
                                         const std::map<std::string, double>& options) {
  ARROW_ASSIGN_OR_RAISE(UpdateRule rule, DefaultsOf(name));
  for (const auto& [member, value] : options) {
    ARROW_RETURN_NOT_OK(SetMember(&rule, member, value));
  }
  ARROW_RETURN_NOT_OK(Validate(rule));
  return rule;
}

std::string_view NameOf(const UpdateRule& rule) { return std::visit(RuleName{}, rule); }

arrow::Status Validate(const UpdateRule& rule) {
  arrow::Status status;
  auto check = [&](const char* name, auto& member) {
    if (status.ok()) {
      status = CheckMember(NameOf(rule), name, static_cast<double>(member));
    }
  };
  UpdateRule copy = rule;  // members are visited writable, for SetMember
  std::visit([&](auto& typed) { VisitMembers(typed, check); }, copy);
  return status.ok() ? CheckTogether(rule) : status;
}

double LearningRateOf(const UpdateRule& rule) {
  return std::visit([](const auto& typed) { return typed.learning_rate; }, rule);
}

void SetLearningRate(UpdateRule* rule, double learning_rate) {
  std::visit([&](auto& typed) { typed.learning_rate = learning_rate; }, *rule);
}

std::vector<RuleState> StatesOf(const UpdateRule& rule) {
  return std::visit([](const auto& typed) { return States(typed); }, rule);
}

UpdateStep StepOf(const UpdateRule& rule, int64_t step) {
  return std::visit([&](const auto& typed) { return MakeStep(typed, step); }, rule);
}

}  // namespace xshards::learn
