# SPDX-License-Identifier: Apache-2.0
import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return xs.read_parquet(files["bookings"]).cache()


def run(shards):
    functions = {"price": "sum", "seats": "max"}
    return shards.group_by("booking", functions).to_arrow()


def result(table):
    return table.rename_columns(["booking", "price", "seats"])
