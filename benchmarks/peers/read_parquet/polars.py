# SPDX-License-Identifier: Apache-2.0
import polars as pl


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return files["flights"]


def run(paths):
    return pl.read_parquet(paths)


def result(frame):
    return frame.to_arrow()
