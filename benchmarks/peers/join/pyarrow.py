# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pyarrow.parquet as pq


def load(files, threads):
    pa.set_cpu_count(threads)
    return pq.read_table(files["flights"]), pq.read_table(files["planes"])


def run(state):
    flights, planes = state
    return flights.join(planes, "tailnum", join_type="inner")


def result(table):
    return table
