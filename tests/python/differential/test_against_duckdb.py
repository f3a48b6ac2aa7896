# SPDX-License-Identifier: Apache-2.0
"""Random programs give what DuckDB gives, where SQL means the same as pandas."""

import pytest
from pipelines.checking import report
from pipelines.draw import draw_program
from pipelines.duckdb_oracle import against_duckdb


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_random_programs_give_what_duckdb_gives(first):
    for seed in range(first, first + 20):
        program = draw_program(seed, sql=True)
        found = against_duckdb(program)
        if found is not None:
            pytest.fail(report(program, found, against_duckdb), pytrace=False)
