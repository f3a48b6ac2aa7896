# SPDX-License-Identifier: Apache-2.0
import duckdb
from tasks import grade


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    connection.read_parquet(files["flights"]).create("flights")
    types = ["VARCHAR", "BIGINT", "DOUBLE"]
    connection.create_function(
        "grade", grade, types, "VARCHAR", null_handling="special"
    )
    return connection


def run(connection):
    query = "SELECT *, grade(carrier, distance, arr_delay) AS grade FROM flights"
    return connection.sql(query).to_arrow_table()


def result(table):
    return table
