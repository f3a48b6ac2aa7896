# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa
from tasks import grade


def load(files, threads):
    return pd.read_parquet(files["flights"])


def run(frame):
    rows = zip(frame["carrier"], frame["distance"], frame["arr_delay"], strict=True)
    return frame.assign(grade=[grade(*row) for row in rows])


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
