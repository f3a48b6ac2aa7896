# SPDX-License-Identifier: Apache-2.0
import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return xs.read_parquet(files["flights"]).cache()


def run(shards):
    return shards[["tailnum", "dest"]].drop_duplicates().to_arrow()


def result(table):
    return table
