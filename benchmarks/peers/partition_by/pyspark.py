# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import spark_partition_id
from tasks import NUM_PARTITIONS


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
    frame = flights.repartition(NUM_PARTITIONS, "dest")
    frame.unpersist(blocking=True)  # Spark would reuse the result of the last run
    frame.cache()
    frame.count()
    return frame


def result(frame):
    table = frame.withColumn("part", spark_partition_id()).toArrow()
    parts = table["part"].combine_chunks()
    return [
        table.filter(pa.compute.equal(parts, part)).drop_columns("part")
        for part in parts.unique()
    ]


def close(flights):
    flights.sparkSession.stop()
