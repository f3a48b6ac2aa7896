# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
from pyarrow import csv


def load(files, threads):
    pa.set_cpu_count(threads)
    return files["flights"]


def run(paths):
    options = csv.ConvertOptions(strings_can_be_null=True)
    parsing = csv.ParseOptions(newlines_in_values=True)
    tables = [
        csv.read_csv(path, convert_options=options, parse_options=parsing)
        for path in paths
    ]
    return pa.concat_tables(tables, promote_options="permissive")


def result(table):
    return table
