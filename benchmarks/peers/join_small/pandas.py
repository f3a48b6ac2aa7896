# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    return pd.read_parquet(files["bookings"]), pd.read_parquet(files["fares"])


def run(state):
    bookings, fares = state
    return bookings.merge(fares, on="price")


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
