# SPDX-License-Identifier: Apache-2.0
"""Shrinking of programs that fail: fewer steps, rows, columns and partitions."""

from dataclasses import replace


def shrink(program, still_fails, most=400):
    """Find a smaller program for which `still_fails` holds, by at most so many runs."""
    runs = 0
    improved = True
    while improved and runs < most:
        improved = False
        for smaller in _smaller(program):
            runs += 1
            if runs > most:
                break
            if _holds(still_fails, smaller):
                program, improved = smaller, True
                break
    return program


def _holds(still_fails, program):
    try:
        return still_fails(program)
    except Exception:  # pandas does not run it either
        return False


def _smaller(program):
    """Yield programs with a part left out, the largest parts first."""
    count = len(program.steps)
    size = count
    while size:
        for begin in range(count - size, -1, -1):
            steps = program.steps[:begin] + program.steps[begin + size :]
            yield replace(program, steps=steps)
        size //= 2
    if program.end is not None:
        yield replace(program, end=None)
    for side in ("left", "right"):
        frame = getattr(program, side)
        for fewer in _smaller_frames(frame):
            yield replace(program, **{side: fewer})
    for partitions in ((1, 1), (2, 1), (1, 2)):
        if sum(partitions) < sum(program.partitions):
            yield replace(program, partitions=partitions)


def _smaller_frames(frame):
    size = frame.rows
    while size:
        for begin in range(0, frame.rows, size):
            yield frame.without_rows(begin, begin + size)
        size //= 2
    for name in frame.columns:
        yield frame.without(name)
