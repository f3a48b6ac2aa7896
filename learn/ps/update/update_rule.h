// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "learn/ps/update/keras_rules.h"
#include "learn/ps/update/update_kernels.h"
#include "xshards/export.h"

namespace xshards::learn {

// Hyper-parameters of each optimizer, with the meaning and the defaults they have in
// torch.optim. `maximize` ascends the gradient instead of descending it.

struct Sgd {
  double learning_rate = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};

/// With decoupled_weight_decay this is AdamW.
struct Adam {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool decoupled_weight_decay = false;
  bool maximize = false;
};

struct Adagrad {
  double learning_rate = 1e-2;
  double learning_rate_decay = 0;
  double weight_decay = 0;
  double initial_accumulator = 0;
  double epsilon = 1e-10;
  bool maximize = false;
};

struct Adadelta {
  double learning_rate = 1;
  double rho = 0.9;
  double epsilon = 1e-6;
  double weight_decay = 0;
  bool maximize = false;
};

struct Adamax {
  double learning_rate = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};

struct RmsProp {
  double learning_rate = 1e-2;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  bool maximize = false;
};

/// Follow the regularised leader, in BigDL's form: the shrinkage is added to the gradient
/// before its square is accumulated.
struct Ftrl {
  double learning_rate = 1e-3;
  double learning_rate_power = -0.5;
  double initial_accumulator = 0.1;
  double l1 = 0;
  double l2 = 0;
  double l2_shrinkage = 0;
};

/// How the parameters of a group are updated from their gradients. Plain data: the
/// arithmetic is in update_kernels.h, the state in the shared region.
using UpdateRule =
    std::variant<Sgd, Adam, Adagrad, Adadelta, Adamax, RmsProp, Ftrl, KerasSgd, KerasAdam,
                 KerasRmsProp, KerasAdagrad, KerasAdadelta, KerasAdamax, KerasNadam,
                 KerasFtrl, KerasLion>;

/// Make a rule by name (sgd, adam, adamw, adagrad, adadelta, adamax, rmsprop, ftrl, or
/// those of Keras: keras_sgd and so on, with keras_nadam and keras_lion) with some
/// hyper-parameters set by name; a bool is 0 or 1. The result is valid.
XSHARDS_EXPORT arrow::Result<UpdateRule> MakeUpdateRule(
    std::string_view name, const std::map<std::string, double>& options);

XSHARDS_EXPORT std::string_view NameOf(const UpdateRule& rule);
/// Check every hyper-parameter against the range in which the rule makes sense.
XSHARDS_EXPORT arrow::Status Validate(const UpdateRule& rule);

XSHARDS_EXPORT double LearningRateOf(const UpdateRule& rule);
XSHARDS_EXPORT void SetLearningRate(UpdateRule* rule, double learning_rate);

/// One vector that a rule keeps for each parameter, named as in torch's state_dict or as
/// Keras' optimizers name it.
struct RuleState {
  std::string name;
  double initial_value = 0;
};
/// At most three.
XSHARDS_EXPORT std::vector<RuleState> StatesOf(const UpdateRule& rule);

/// Everything about one step of one parameter that does not depend on the element.
struct UpdateStep {
  RuleKind kind = RuleKind::kSgd;
  double coupled_weight_decay = 0;  // times the weights, added to the gradient
  double weight_scale = 1;          // of the weights, before the kernel runs
  bool maximize = false;
  UpdateCoefficients coefficients;
};
/// `step` counts the steps in which this parameter had a gradient, this one included.
XSHARDS_EXPORT UpdateStep StepOf(const UpdateRule& rule, int64_t step);

}  // namespace xshards::learn
