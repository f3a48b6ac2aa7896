# SPDX-License-Identifier: Apache-2.0
import duckdb


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    connection.read_parquet(files["flights"]).create("flights")
    connection.read_parquet(files["planes"]).create("planes")
    return connection


def run(connection):
    query = "SELECT * FROM flights JOIN planes USING (tailnum)"
    return connection.sql(query).to_arrow_table()


def result(table):
    return table
