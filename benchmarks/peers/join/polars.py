# SPDX-License-Identifier: Apache-2.0
import polars as pl


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return pl.read_parquet(files["flights"]), pl.read_parquet(files["planes"])


def run(state):
    flights, planes = state
    return flights.join(planes, on="tailnum")


def result(frame):
    return frame.to_arrow()
