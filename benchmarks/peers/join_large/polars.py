# SPDX-License-Identifier: Apache-2.0
import polars as pl


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return pl.read_parquet(files["bookings"]), pl.read_parquet(files["payments"])


def run(state):
    bookings, payments = state
    return bookings.join(payments, on="booking")


def result(frame):
    return frame.to_arrow()
