# SPDX-License-Identifier: Apache-2.0
from tasks import READ_COLUMNS

import xshards as xs


def load(files, threads):
    xs.init(cores=threads, progress=False)
    return files["flights"]


def run(paths):
    return xs.read_csv(paths, usecols=READ_COLUMNS).cache()


def result(shards):
    return shards.to_arrow()
