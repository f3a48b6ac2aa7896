# SPDX-License-Identifier: Apache-2.0
"""Runs of a program compared with an oracle, and what is printed if they differ."""

from pipelines.compare import Difference, difference
from pipelines.shrink import shrink


def against_pandas(program, frames=None, expected=None):
    """Find how XShards differs from pandas; None if it does not."""
    frames = program.frames() if frames is None else frames
    expected = program.run_pandas(frames) if expected is None else expected
    try:
        actual = program.run_xshards(frames)
    except Exception as error:  # whatever it is, pandas raised none
        return Difference("error", f"{type(error).__name__}: {error}")
    return difference(actual, expected, program)


def report(program, found, check=against_pandas):
    """Write the smallest program that differs in the same way."""
    smaller = shrink(program, lambda one: _alike(check(one), found))
    last = check(smaller) or found
    return f"{last}\n\n{smaller.source()}"


def _alike(difference, other):
    return difference is not None and difference.sort == other.sort
