# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    return pd.read_parquet(files["bookings"])


def run(frame):
    return frame["booking"].unique()


def result(values):
    return pa.table({"booking": pa.array(values, from_pandas=True)})
