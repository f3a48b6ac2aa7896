# SPDX-License-Identifier: Apache-2.0
import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return files["flights"]


def run(paths):
    return xs.read_parquet(paths).cache()


def result(shards):
    return shards.to_arrow()
