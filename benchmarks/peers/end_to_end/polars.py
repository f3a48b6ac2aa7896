# SPDX-License-Identifier: Apache-2.0
import polars as pl


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return files


def run(files):
    flights, planes = pl.scan_csv(files["flights"]), pl.scan_parquet(files["planes"])
    hours = pl.col("hours")
    return (
        flights.filter(pl.col("arr_delay") > 30)
        .with_columns(hours=pl.col("arr_delay") / 60.0)
        .join(planes, on="tailnum")
        .group_by("manufacturer", "dest")
        .agg(hours.sum(), flights=hours.count())
        .sort("manufacturer", "dest")
        .collect()
    )


def result(frame):
    return frame.to_arrow()
