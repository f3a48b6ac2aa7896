# SPDX-License-Identifier: Apache-2.0
import dask
import dask.dataframe as dd
import pyarrow as pa
from tasks import grade


def load(files, threads):
    # The function holds the interpreter's lock: only processes run it in parallel.
    dask.config.set(scheduler="processes", num_workers=threads)
    return dd.read_parquet(files["flights"]).persist(scheduler="threads")


def add_grade(frame):
    rows = zip(frame["carrier"], frame["distance"], frame["arr_delay"], strict=True)
    return frame.assign(grade=[grade(*row) for row in rows])


def run(frame):
    return frame.map_partitions(add_grade).persist()


def result(frame):
    return pa.Table.from_pandas(frame.compute(), preserve_index=False)
