# SPDX-License-Identifier: Apache-2.0
import polars as pl


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return pl.read_parquet(files["bookings"]), pl.read_parquet(files["fares"])


def run(state):
    bookings, fares = state
    return bookings.join(fares, on="price")


def result(frame):
    return frame.to_arrow()
