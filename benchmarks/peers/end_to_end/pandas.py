# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    return files


def run(files):
    flights = pd.concat([pd.read_csv(path) for path in files["flights"]])
    planes = pd.read_parquet(files["planes"])
    late = flights[flights["arr_delay"] > 30]
    late = late.assign(hours=late["arr_delay"] / 60.0)
    groups = late.merge(planes, on="tailnum").groupby(["manufacturer", "dest"])["hours"]
    frame = groups.agg(["sum", "count"]).reset_index()
    return frame.sort_values(["manufacturer", "dest"])


def result(frame):
    names = {"sum": "hours", "count": "flights"}
    return pa.Table.from_pandas(frame.rename(columns=names), preserve_index=False)
