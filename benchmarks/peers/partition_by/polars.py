# SPDX-License-Identifier: Apache-2.0
import polars as pl
from tasks import NUM_PARTITIONS


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return pl.read_parquet(files["flights"])


def run(frame):
    part = (pl.col("dest").hash() % NUM_PARTITIONS).alias("part")
    return frame.with_columns(part).partition_by("part", include_key=False)


def result(parts):
    return [part.to_arrow() for part in parts]
