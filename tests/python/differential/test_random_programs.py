# SPDX-License-Identifier: Apache-2.0
"""Random programs give what pandas gives, in whatever way they are run.

A failure prints a small program that runs by itself. To look for more of them:
``XSHARDS_SEEDS=20000:30000 pytest -m slow tests/python/differential``.
"""

import itertools
import os

import pytest
from pipelines.checking import against_pandas, report
from pipelines.compare import difference
from pipelines.draw import draw_program
from pipelines.known_differences import EXCUSED, NOT_DRAWN
from pipelines.program import evaluate
from pipelines.settings import close_contexts, variants

import xshards as xs

_CHUNK = 20


@pytest.fixture(scope="module", autouse=True)
def contexts():
    yield
    close_contexts()


def check(seed, ways=1):
    """Compare a program with pandas, as drawn and run in some of the other ways."""
    program = draw_program(seed)
    frames = program.frames()
    expected = program.run_pandas(frames)
    others = list(variants(program))
    first = seed % len(others)
    chosen = itertools.islice(itertools.cycle(others), first, first + ways)
    for way in (program, *chosen):
        found = against_pandas(way, frames, expected)
        if found is not None:
            pytest.fail(report(way, found), pytrace=False)


@pytest.mark.parametrize("first", range(0, 200, _CHUNK))
def test_random_programs_give_what_pandas_gives(first):
    for seed in range(first, first + _CHUNK):
        check(seed)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_many_random_programs_give_what_pandas_gives():
    first, last = map(int, os.environ.get("XSHARDS_SEEDS", "1000:11000").split(":"))
    for seed in range(first, last):
        check(seed)


def test_all_ways_to_run_a_program_give_the_same():
    for seed in range(500, 510):
        check(seed, ways=11)


@pytest.mark.parametrize("known", [*EXCUSED, *NOT_DRAWN], ids=lambda known: known.name)
def test_known_differences_are_still_there(known):
    left, right = (evaluate(source) for source in (known.left, known.right))
    shards = xs.from_pandas(left, 1), xs.from_pandas(right, 1)
    actual = evaluate(known.xs, s=shards[0], other=shards[1]).to_pandas()
    expected = evaluate(known.pd, d=left, right=right)
    assert repr([*actual.dtypes, *actual.values.tolist()]) != repr(
        [*expected.dtypes, *expected.values.tolist()]
    )


def test_a_failure_is_reported_as_a_small_program():
    program = draw_program(3)

    def differs_in_rows(one):
        frames = one.frames()
        return difference(one.run_pandas(frames).head(0), one.run_pandas(frames), one)

    found = differs_in_rows(program)
    text = report(program, found, differs_in_rows)
    assert text.startswith("rows: 0 and 1\n")
    assert "s = xs.from_pandas(left, 1" in text
