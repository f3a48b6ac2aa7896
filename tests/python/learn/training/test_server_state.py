# SPDX-License-Identifier: Apache-2.0
"""What the parameter server begins with."""

import numpy as np
from numpy_adapter import Mlp, NumpyOptimizer, Sgd

from xshards.context import default_context
from xshards.learn.training.clip import Clip
from xshards.learn.training.server_mode import OptimizerServer


class Leader(NumpyOptimizer):
    """Follows the regularised leader, whose sums do not begin at 0."""

    def rules(self):
        return [("ftrl", {"learning_rate": 0.1, "initial_accumulator": 0.25})]


def test_a_rules_state_begins_where_the_rule_says():
    model = Mlp(3, 2)
    optimizer = Leader(Sgd(model))
    server = OptimizerServer(
        optimizer,
        [model],
        num_replicas=1,
        state_bytes=1 << 16,
        clip=Clip(),
        context=default_context(),
    )
    try:
        assert server.server.state_names(0) == ["accum", "linear"]
        for index in range(4):
            assert np.all(server.server.state(0, index) == 0.25)
            assert np.all(server.server.state(1, index) == 0)
        server.server.state(0, 0)[:] = 9
        server.load_optimizer_state()  # of an optimizer that has none
        assert np.all(server.server.state(0, 0) == 0.25)
    finally:
        server.close()
