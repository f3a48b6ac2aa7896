# SPDX-License-Identifier: Apache-2.0
import duckdb


def load(files, threads):
    return duckdb.connect(config={"threads": threads}), files


def run(state):
    connection, files = state
    flights = connection.read_csv(files["flights"])  # noqa: F841 - found by name
    planes = connection.read_parquet(files["planes"])  # noqa: F841
    return connection.sql("""
        SELECT manufacturer, dest, sum(arr_delay / 60.0) AS hours, count(*) AS flights
        FROM flights JOIN planes USING (tailnum)
        WHERE arr_delay > 30
        GROUP BY manufacturer, dest ORDER BY manufacturer, dest
    """).to_arrow_table()


def result(table):
    return table
