# SPDX-License-Identifier: Apache-2.0
import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    flights = xs.read_parquet(files["flights"]).cache()
    return flights, xs.read_parquet(files["planes"]).cache()


def run(state):
    flights, planes = state
    return flights.merge(planes, on="tailnum").cache()


def result(shards):
    return shards.to_arrow()
