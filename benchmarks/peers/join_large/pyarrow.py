# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pyarrow.parquet as pq


def load(files, threads):
    pa.set_cpu_count(threads)
    return pq.read_table(files["bookings"]), pq.read_table(files["payments"])


def run(state):
    bookings, payments = state
    return bookings.join(payments, "booking", join_type="inner")


def result(table):
    return table
