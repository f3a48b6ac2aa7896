# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pyarrow.parquet as pq


def load(files, threads):
    pa.set_cpu_count(threads)
    return pq.read_table(files["bookings"])


def run(table):
    return table["booking"].unique()


def result(values):
    return pa.table({"booking": values})
