# SPDX-License-Identifier: Apache-2.0
import dask
import dask.dataframe as dd
import pyarrow as pa
from tasks import NUM_PARTITIONS


def load(files, threads):
    dask.config.set(scheduler="threads", num_workers=threads)
    return dd.read_parquet(files["flights"]).persist()


def run(frame):
    return frame.shuffle("dest", npartitions=NUM_PARTITIONS).persist()


def result(frame):
    parts = [part.compute() for part in frame.partitions]
    return [pa.Table.from_pandas(part, preserve_index=False) for part in parts]
