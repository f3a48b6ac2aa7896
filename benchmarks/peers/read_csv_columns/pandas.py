# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow as pa
from tasks import READ_COLUMNS


def load(files, threads):
    return files["flights"]


def run(paths):
    parts = [pd.read_csv(path, usecols=READ_COLUMNS) for path in paths]
    return pd.concat(parts, ignore_index=True)


def result(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)
