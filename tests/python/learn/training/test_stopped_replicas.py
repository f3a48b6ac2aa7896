# SPDX-License-Identifier: Apache-2.0
"""Training with replicas that somebody stops."""

import os
import signal
import threading
import time

import pytest
from numpy_adapter import Sgd
from test_numpy_model import assert_bitwise, noisy, shards, weights_of

import xshards as xs


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stopped_replica_is_replaced(make, workers):
    xs.init(cores=2, memory="512MB", stopped_timeout=1.0)

    def train(disturb=None):
        model = noisy()
        estimator = make(model, Sgd(model, 0.05, 0.9), workers=workers)
        thread = threading.Thread(target=disturb, args=(estimator,))
        if disturb is not None:
            thread.start()
        history = estimator.fit(shards(6_000), epochs=2, batch_size=16)
        if disturb is not None:
            thread.join()
        return estimator.get_model(), history

    stopped = []

    def stop(estimator):
        while estimator._job.num_steps < 100 or len(estimator._job.pids) < workers:
            time.sleep(0.01)
        stopped.append(estimator._job.pids[-1])
        os.kill(stopped[0], signal.SIGSTOP)

    expected, history = train()
    with pytest.warns(RuntimeWarning, match="is stopped") as caught:
        model, disturbed = train(stop)
    [text] = [str(one.message) for one in caught]
    assert f"(process {stopped[0]}) is stopped" in text
    assert disturbed == history
    assert_bitwise(weights_of(model), weights_of(expected))
