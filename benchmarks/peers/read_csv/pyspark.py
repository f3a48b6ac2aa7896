# SPDX-License-Identifier: Apache-2.0
from pyspark.sql import SparkSession


def load(files, threads):
    session = (
        SparkSession.builder.master(f"local[{threads}]")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.maxResultSize", "0")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    return session, files["flights"]


def run(state):
    session, paths = state
    session.catalog.clearCache()
    frame = session.read.csv(paths, header=True, inferSchema=True).cache()
    frame.count()
    return frame


def result(frame):
    return frame.toArrow()


def close(state):
    state[0].stop()
