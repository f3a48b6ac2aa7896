# SPDX-License-Identifier: Apache-2.0
import duckdb


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    connection.read_parquet(files["flights"]).create("flights")
    return connection


def run(connection):
    return connection.sql("SELECT DISTINCT tailnum, dest FROM flights").to_arrow_table()


def result(table):
    return table
