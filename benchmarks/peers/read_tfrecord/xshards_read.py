# SPDX-License-Identifier: Apache-2.0
import pyarrow.compute as pc
from timing import report

import xshards as xs


def read(files):
    table = xs.read_tfrecord(files).to_arrow()
    columns = [table["id"], table["x"], pc.list_flatten(table["v"])]
    sums = [pc.sum(column.cast("float64")).as_py() for column in columns]
    return [*sums, pc.sum(pc.binary_length(table["name"])).as_py()]


if __name__ == "__main__":
    xs.init(cores=2)
    report(read)
