# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pyarrow.parquet as pq


def load(files, threads):
    pa.set_cpu_count(threads)
    return pq.read_table(files["bookings"])


def run(table):
    functions = [("price", "sum"), ("seats", "max")]
    return table.group_by("booking").aggregate(functions)


def result(table):
    return table.rename_columns(["booking", "price", "seats"])
