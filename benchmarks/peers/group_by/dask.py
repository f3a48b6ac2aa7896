# SPDX-License-Identifier: Apache-2.0
import dask
import dask.dataframe as dd
import pyarrow as pa


def load(files, threads):
    dask.config.set(scheduler="threads", num_workers=threads)
    return dd.read_parquet(files["flights"]).persist()


def run(frame):
    groups = frame.groupby(["carrier", "dest"])["arr_delay"]
    return groups.agg(["sum", "mean", "max"]).reset_index().compute()


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
