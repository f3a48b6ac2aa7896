# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    return pd.read_parquet(files["flights"]), pd.read_parquet(files["planes"])


def run(state):
    flights, planes = state
    return flights.merge(planes, on="tailnum")


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
