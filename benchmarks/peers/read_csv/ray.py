# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import ray
from pyarrow import csv


def load(files, threads):
    ray.init(num_cpus=threads, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return files["flights"]


def run(paths):
    options = csv.ConvertOptions(strings_can_be_null=True)
    return ray.data.read_csv(paths, convert_options=options).materialize()


def result(data):
    tables = ray.get(data.to_arrow_refs())
    return pa.concat_tables(tables, promote_options="permissive")


def close(state):
    ray.shutdown()
