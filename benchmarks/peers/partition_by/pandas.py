# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa
from tasks import NUM_PARTITIONS


def load(files, threads):
    return pd.read_parquet(files["flights"])


def run(frame):
    hashes = pd.util.hash_pandas_object(frame["dest"], index=False) % NUM_PARTITIONS
    return [part for _, part in frame.groupby(hashes)]


def result(parts):
    return [pa.Table.from_pandas(part, preserve_index=False) for part in parts]
