# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
from pyarrow import csv
from tasks import READ_COLUMNS


def load(files, threads):
    pa.set_cpu_count(threads)
    return files["flights"]


def run(paths):
    options = csv.ConvertOptions(strings_can_be_null=True, include_columns=READ_COLUMNS)
    tables = [csv.read_csv(path, convert_options=options) for path in paths]
    return pa.concat_tables(tables, promote_options="permissive")


def result(table):
    return table
