# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import dataset


def load(files, threads):
    pa.set_cpu_count(threads)
    return files


def run(files):
    flights = dataset.dataset(files["flights"], format="csv")
    arr_delay = pc.field("arr_delay")
    late = flights.to_table(
        {
            "tailnum": pc.field("tailnum"),
            "dest": pc.field("dest"),
            "hours": arr_delay / 60.0,
        },
        filter=arr_delay > 30,
    )
    joined = late.join(pq.read_table(files["planes"]), "tailnum", join_type="inner")
    groups = joined.group_by(["manufacturer", "dest"])
    table = groups.aggregate([("hours", "sum"), ("hours", "count")])
    return table.sort_by([("manufacturer", "ascending"), ("dest", "ascending")])


def result(table):
    return table.rename_columns(["manufacturer", "dest", "hours", "flights"])
