# SPDX-License-Identifier: Apache-2.0
import dask
import dask.dataframe as dd
import pyarrow as pa


def load(files, threads):
    dask.config.set(scheduler="threads", num_workers=threads)
    return files["flights"]


def run(paths):
    # Dask infers from a sample, and needs explicit types where that fails.
    types = {"dep_time": "float64", "arr_time": "float64"}
    return dd.read_csv(paths, dtype=types).persist()


def result(frame):
    return pa.Table.from_pandas(frame.compute(), preserve_index=False)
