# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pyarrow.parquet as pq


def load(files, threads):
    pa.set_cpu_count(threads)
    return pq.read_table(files["flights"])


def run(table):
    functions = [("arr_delay", name) for name in ("sum", "mean", "max")]
    return table.group_by(["tailnum"]).aggregate(functions)


def result(table):
    return table.rename_columns(["tailnum", "sum", "mean", "max"])
