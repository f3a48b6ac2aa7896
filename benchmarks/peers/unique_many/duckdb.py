# SPDX-License-Identifier: Apache-2.0
import duckdb


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    connection.read_parquet(files["bookings"]).create("bookings")
    return connection


def run(connection):
    return connection.sql("SELECT DISTINCT booking FROM bookings").to_arrow_table()


def result(table):
    return table
