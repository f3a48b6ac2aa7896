# SPDX-License-Identifier: Apache-2.0
import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return xs.read_parquet(files["flights"]).cache()


def run(shards):
    return shards.sort_values(["carrier", "arr_delay"]).cache()


def result(shards):
    return shards.to_arrow()
