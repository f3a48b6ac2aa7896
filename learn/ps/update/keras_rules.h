// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace xshards::learn {

// Hyper-parameters of Keras' optimizers, with the meaning and the defaults they have in
// keras.optimizers. `weight_decay` shrinks the weights by learning_rate * weight_decay
// before each update, as every optimizer of Keras does it. In alphabetical order.

struct KerasAdadelta {
  double learning_rate = 1e-3;
  double rho = 0.95;
  double epsilon = 1e-7;
  double weight_decay = 0;
};

struct KerasAdagrad {
  double learning_rate = 1e-3;
  double initial_accumulator = 0.1;
  double epsilon = 1e-7;
  double weight_decay = 0;
};

/// Adam and AdamW.
struct KerasAdam {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0;
  bool amsgrad = false;
};

struct KerasAdamax {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0;
};

/// The square of the plain gradient is accumulated, without the shrinkage.
struct KerasFtrl {
  double learning_rate = 1e-3;
  double learning_rate_power = -0.5;
  double initial_accumulator = 0.1;
  double l1 = 0;
  double l2 = 0;
  double l2_shrinkage = 0;
  double beta = 0;
  double weight_decay = 0;
};

struct KerasLion {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
};

struct KerasNadam {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0;
};

struct KerasRmsProp {
  double learning_rate = 1e-3;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  double weight_decay = 0;
  bool centered = false;
};

struct KerasSgd {
  double learning_rate = 1e-2;
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

}  // namespace xshards::learn
