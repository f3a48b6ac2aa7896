# SPDX-License-Identifier: Apache-2.0
import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return xs.read_parquet(files["flights"]).cache()


def run(shards):
    functions = {"arr_delay": ["sum", "mean", "max"]}
    return shards.group_by(["tailnum"], functions).to_arrow()


def result(table):
    return table.rename_columns(["tailnum", "sum", "mean", "max"])
