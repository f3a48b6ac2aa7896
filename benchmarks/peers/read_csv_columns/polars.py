# SPDX-License-Identifier: Apache-2.0
import polars as pl
from tasks import READ_COLUMNS


def load(files, threads):
    assert pl.thread_pool_size() == threads
    return files["flights"]


def run(paths):
    return pl.read_csv(paths, columns=READ_COLUMNS)


def result(frame):
    return frame.to_arrow()
