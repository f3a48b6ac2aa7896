# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pyarrow.parquet as pq


def load(files, threads):
    pa.set_cpu_count(threads)
    return pq.read_table(files["flights"])


def run(table):
    return table.group_by(["tailnum", "dest"]).aggregate([])


def result(table):
    return table
