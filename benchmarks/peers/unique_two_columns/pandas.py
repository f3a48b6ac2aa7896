# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    return pd.read_parquet(files["flights"])


def run(frame):
    return frame[["tailnum", "dest"]].drop_duplicates()


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
