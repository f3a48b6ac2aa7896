# SPDX-License-Identifier: Apache-2.0
import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return files


def run(files):
    flights, planes = xs.read_csv(files["flights"]), xs.read_parquet(files["planes"])
    late = flights.filter(xs.col("arr_delay") > 30)
    late = late.with_column("hours", xs.col("arr_delay") / 60.0)
    groups = late.merge(planes, on="tailnum").group_by(
        ["manufacturer", "dest"], {"hours": ["sum", "count"]}
    )
    return groups.sort_values(["manufacturer", "dest"]).to_arrow()


def result(table):
    return table.rename_columns(["manufacturer", "dest", "hours", "flights"])
