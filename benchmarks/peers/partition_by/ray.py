# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import ray
from tasks import NUM_PARTITIONS


def load(files, threads):
    ray.init(num_cpus=threads, include_dashboard=False, log_to_driver=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.shuffle_strategy = ray.data.context.ShuffleStrategy.HASH_SHUFFLE
    return ray.data.read_parquet(Path(files["flights"][0]).parent).materialize()


def run(data):
    return data.repartition(NUM_PARTITIONS, keys=["dest"]).materialize()


def result(data):
    return ray.get(data.to_arrow_refs())


def close(state):
    ray.shutdown()
