# SPDX-License-Identifier: Apache-2.0
import polars as pl


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return pl.read_parquet(files["flights"])


def run(frame):
    return frame.select("tailnum", "dest").unique()


def result(frame):
    return frame.to_arrow()
