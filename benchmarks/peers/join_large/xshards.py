# SPDX-License-Identifier: Apache-2.0
import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    bookings = xs.read_parquet(files["bookings"]).cache()
    return bookings, xs.read_parquet(files["payments"]).cache()


def run(state):
    bookings, payments = state
    return bookings.merge(payments, on="booking").cache()


def result(shards):
    return shards.to_arrow()
