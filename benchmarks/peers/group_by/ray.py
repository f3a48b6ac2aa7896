# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pyarrow as pa
import ray
from ray.data.aggregate import Max, Mean, Sum


def load(files, threads):
    ray.init(num_cpus=threads, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray.data.read_parquet(Path(files["flights"][0]).parent).materialize()


def run(data):
    groups = data.groupby(["carrier", "dest"])
    column = "arr_delay"
    return groups.aggregate(
        Sum(column, alias_name="sum"),
        Mean(column, alias_name="mean"),
        Max(column, alias_name="max"),
    ).materialize()


def result(data):
    tables = ray.get(data.to_arrow_refs())
    return pa.concat_tables(tables, promote_options="permissive")


def close(state):
    ray.shutdown()
