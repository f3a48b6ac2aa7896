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


class ConfusionMatrix:
    """Counts of 0 and 1, which is what is at least 0.5."""

    def __init__(self):
        self.reset()

    def __call__(self, preds, targets):
        pairs = 2 * targets.reshape(-1).astype(int) + (preds.reshape(-1) >= 0.5)
        self.merge(np.bincount(pairs, minlength=4).reshape(2, 2))

    def compute(self):
        return self._counts

    def state(self):
        return self._counts

    def merge(self, state):
        self._counts = self._counts + state

    def reset(self):
        self._counts = np.zeros((2, 2), dtype=int)


class MSE(Mean):
    def terms(self, preds, targets):
        return np.square(preds - targets)


class MAE(Mean):
    def terms(self, preds, targets):
        return np.abs(preds - targets)
