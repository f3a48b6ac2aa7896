# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pyarrow.parquet as pq


def load(files, threads):
    pa.set_cpu_count(threads)
    return files["flights"]


def run(paths):
    return pq.read_table(paths)


def result(table):
    return table
