# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    return pd.read_parquet(files["flights"])


def run(frame):
    groups = frame.groupby("tailnum", dropna=False)["arr_delay"]
    return groups.agg(["sum", "mean", "max"]).reset_index()


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
