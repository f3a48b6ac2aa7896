# SPDX-License-Identifier: Apache-2.0
"""The metrics of the framework in `numpy_adapter`."""

import numpy as np


class Mean:
    """The mean of something over elements."""

    def __init__(self):
        self.reset()

    def __call__(self, preds, targets):
        terms = self.terms(preds, targets)
        self.merge((terms.sum(), terms.size))

    def compute(self):
        return np.float64(self._sum / self._count)

    def state(self):
        return self._sum, self._count

    def merge(self, state):
        self._sum += state[0]
        self._count += state[1]

    def reset(self):
        self._sum, self._count = 0.0, 0


class MSE(Mean):
    def terms(self, preds, targets):
        return np.square(preds - targets)


class MAE(Mean):
    def terms(self, preds, targets):
        return np.abs(preds - targets)
