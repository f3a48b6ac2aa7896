# SPDX-License-Identifier: Apache-2.0
import polars as pl


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return pl.read_parquet(files["bookings"])


def run(frame):
    return frame.group_by("booking").agg(pl.col("price").sum(), pl.col("seats").max())


def result(frame):
    return frame.to_arrow()
