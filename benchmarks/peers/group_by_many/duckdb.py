# SPDX-License-Identifier: Apache-2.0
import duckdb


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    connection.read_parquet(files["bookings"]).create("bookings")
    return connection


def run(connection):
    return connection.sql("""
        SELECT booking, sum(price) AS price, max(seats) AS seats
        FROM bookings GROUP BY booking
    """).to_arrow_table()


def result(table):
    return table
