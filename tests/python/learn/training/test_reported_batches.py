# SPDX-License-Identifier: Apache-2.0
"""The batches of a measurement, reported one by one, also where a replica dies."""

import os
import signal

import numpy as np
from numpy_adapter import Mlp
from test_numpy_model import arrays


class DiesOnce(Mlp):
    """Kills its process in the fourth batch, the first time."""

    calls = 0
    marker = None

    def __call__(self, x):
        self.calls += 1
        if self.marker and self.calls == 4 and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(x)


def measured(make, marker=None):
    model = DiesOnce(3, 4)
    model.marker = marker
    estimator = make(model, workers=2)
    job, seen = estimator._job, []
    job.begin()
    source = job.add_source(estimator._input(arrays(50), None, None))
    answers = job.measure(source, batch_size=8, metrics={}, on_batch=seen.append)
    job.drop_source(source)
    return seen, answers


def test_each_batch_is_reported_once_with_the_buffers_of_all(make, tmp_path):
    seen, answers = measured(make)
    assert len(seen) == 7
    again, same = measured(make, tmp_path / "died")
    assert (tmp_path / "died").exists()
    assert same == answers
    assert len(again) == 7
    for batch, other in zip(seen, again, strict=True):
        assert len(batch) == len(other) == 2
        for one, two in zip(batch, other, strict=True):
            np.testing.assert_array_equal(one, two)
