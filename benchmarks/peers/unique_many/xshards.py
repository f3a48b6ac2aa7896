# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa

import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return xs.read_parquet(files["bookings"]).cache()


def run(shards):
    return shards["booking"].unique()


def result(values):
    return pa.table({"booking": pa.array(values, from_pandas=True)})
