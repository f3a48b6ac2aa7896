# SPDX-License-Identifier: Apache-2.0
import duckdb


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    connection.read_parquet(files["flights"]).create("flights")
    return connection


def run(connection):
    return connection.sql("""
        SELECT tailnum, sum(arr_delay) AS sum, avg(arr_delay) AS mean,
               max(arr_delay) AS max
        FROM flights GROUP BY tailnum
    """).to_arrow_table()


def result(table):
    return table
