# SPDX-License-Identifier: Apache-2.0
"""DuckDB as an oracle: the same program as one query, compared as a bag of rows."""

from decimal import Decimal

import duckdb
import pyarrow as pa

from pipelines.compare import Difference


def against_duckdb(program, frames=None):
    """Find how XShards differs from DuckDB; None if it does not."""
    frames = program.frames() if frames is None else frames
    expected = _rows(_run(program, frames))
    try:
        actual = _rows(pa.Table.from_pandas(program.run_xshards(frames)))
    except Exception as error:  # whatever it is, DuckDB raised none
        return Difference("error", f"{type(error).__name__}: {error}")
    if len(actual) != len(expected):
        return Difference("rows", f"{len(actual)} and {len(expected)}")
    for ours, theirs in zip(actual, expected, strict=True):
        if ours != theirs:
            return Difference("values", f"{ours} and {theirs}")
    return None


def _run(program, frames):
    """Run the steps as common table expressions, each of which reads the one before."""
    named = zip(("step0", "other"), frames, strict=True)
    tables = {name: pa.Table.from_pandas(one) for name, one in named}
    steps = [
        f"step{number} AS ({step.sql.format(s=f'step{number - 1}')})"
        for number, step in enumerate(program.steps, 1)
    ]
    query = f"SELECT * FROM step{len(steps)}"
    if steps:
        query = f"WITH {', '.join(steps)} {query}"
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for name, table in tables.items():
            connection.register(name, table)
        return connection.sql(query).to_arrow_table()


def _rows(table):
    """Give the rows in one order, as values that both engines agree on."""
    names = sorted(table.column_names)
    columns = [list(map(_plain, table[name].to_pylist())) for name in names]
    return sorted(zip(*columns, strict=True), key=repr)


def _plain(cell):
    if cell is None or cell != cell:  # NaN
        return None
    if isinstance(cell, int | float | Decimal):
        return round(float(cell), 6) + 0.0
    return str(cell)
