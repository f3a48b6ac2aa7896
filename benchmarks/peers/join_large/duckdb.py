# SPDX-License-Identifier: Apache-2.0
import duckdb


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    connection.read_parquet(files["bookings"]).create("bookings")
    connection.read_parquet(files["payments"]).create("payments")
    return connection


def run(connection):
    query = "SELECT * FROM bookings JOIN payments USING (booking)"
    return connection.sql(query).to_arrow_table()


def result(table):
    return table
