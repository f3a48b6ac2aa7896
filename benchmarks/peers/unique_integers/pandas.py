# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    return pd.read_parquet(files["flights"])


def run(frame):
    return frame["flight"].unique()


def result(values):
    return pa.table({"flight": pa.array(values, from_pandas=True)})
