# SPDX-License-Identifier: Apache-2.0
import duckdb
from tasks import NUM_PARTITIONS


def load(files, threads):
    connection = duckdb.connect(config={"threads": threads})
    connection.read_parquet(files["flights"]).create("flights")
    return connection


def run(connection):
    query = "SELECT * FROM flights WHERE hash(dest) % {} = {}"
    return [
        connection.sql(query.format(NUM_PARTITIONS, i)).to_arrow_table()
        for i in range(NUM_PARTITIONS)
    ]


def result(parts):
    return parts
