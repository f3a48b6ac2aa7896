# SPDX-License-Identifier: Apache-2.0
import polars as pl


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return pl.read_parquet(files["flights"])


def run(frame):
    delay = pl.col("arr_delay")
    return frame.group_by("tailnum").agg(
        sum=delay.sum(), mean=delay.mean(), max=delay.max()
    )


def result(frame):
    return frame.to_arrow()
