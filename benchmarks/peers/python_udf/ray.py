# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pyarrow as pa
import ray
from tasks import grade


def load(files, threads):
    ray.init(num_cpus=threads, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray.data.read_parquet(Path(files["flights"][0]).parent).materialize()


def add_grade(frame):
    frame = frame.astype({"arr_delay": "float64"})  # Ray's missing value is pd.NA
    rows = zip(frame["carrier"], frame["distance"], frame["arr_delay"], strict=True)
    return frame.assign(grade=[grade(*row) for row in rows])


def run(data):
    return data.map_batches(add_grade, batch_format="pandas").materialize()


def result(data):
    tables = ray.get(data.to_arrow_refs())
    return pa.concat_tables(tables, promote_options="permissive")


def close(state):
    ray.shutdown()
