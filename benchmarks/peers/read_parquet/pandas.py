# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa


def load(files, threads):
    pa.set_cpu_count(threads)  # pandas reads Parquet with pyarrow
    return files["flights"]


def run(paths):
    return pd.read_parquet(paths)


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
