# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
from tasks import NUM_PARTITIONS

import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return xs.read_parquet(files["flights"]).cache()


def run(shards):
    return shards.partition_by("dest", NUM_PARTITIONS).cache()


def result(shards):
    parts = shards.collect()
    return [pa.Table.from_pandas(part, preserve_index=False) for part in parts]
