# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    return pd.read_parquet(files["bookings"])


def run(frame):
    groups = frame.groupby("booking")
    return groups.agg({"price": "sum", "seats": "max"}).reset_index()


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
