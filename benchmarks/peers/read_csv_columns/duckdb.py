# SPDX-License-Identifier: Apache-2.0
import duckdb
from tasks import READ_COLUMNS


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    return connection, files["flights"]


def run(state):
    connection, paths = state
    return connection.read_csv(paths).select(*READ_COLUMNS).to_arrow_table()


def result(table):
    return table
