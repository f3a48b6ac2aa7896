# SPDX-License-Identifier: Apache-2.0
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn


def load(files, threads):
    session = (
        SparkSession.builder.master(f"local[{threads}]")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.maxResultSize", "0")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", threads)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    flights = session.read.parquet(*files["flights"]).cache()
    flights.count()
    return flights


def run(flights):
    groups = flights.groupBy("carrier", "dest")
    delay = "arr_delay"
    return groups.agg(
        fn.sum(delay).alias("sum"),
        fn.mean(delay).alias("mean"),
        fn.max(delay).alias("max"),
    ).toArrow()


def result(table):
    return table


def close(flights):
    flights.sparkSession.stop()
