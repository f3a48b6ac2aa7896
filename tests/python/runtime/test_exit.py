# SPDX-License-Identifier: Apache-2.0
"""The interpreter may exit while threads run native work."""

import pytest
from child_process import run_in_child

CODE = """
    import sys, threading, time
    import numpy as np
    import pandas as pd
    import xshards as xs
    xs.init(cores=2, memory="256MB")
    frame = pd.DataFrame({"k": np.arange(200_000) % 1000, "v": np.arange(200_000.0)})
    shards = xs.from_pandas(frame, num_partitions=8)
    began = threading.Event()

    def run():
        while True:
            try:
                began.set()
                ACT
            except xs.XShardsError:
                pass

    for _ in range(2):
        threading.Thread(target=run, daemon=True).start()
    began.wait()
    time.sleep(float(sys.argv[1]))
"""

ACTS = {
    "sort": 'shards.sort_values("v").to_pandas()',
    "count": 'shards.filter(xs.col("k") > 5).count()',
    "explain": 'shards.sort_values("v").explain()',
}


@pytest.mark.parametrize("act", ACTS)
def test_exit_while_daemon_threads_run_plans_is_clean(act):
    for wait in (0, 0.01, 0.05, 0.1, 0.2):
        run_in_child(CODE.replace("ACT", ACTS[act]), wait, timeout=60)
