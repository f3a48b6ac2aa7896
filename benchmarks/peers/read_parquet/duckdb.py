# SPDX-License-Identifier: Apache-2.0
import duckdb


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    return connection, files["flights"]


def run(state):
    connection, paths = state
    return connection.read_parquet(paths).to_arrow_table()


def result(table):
    return table
