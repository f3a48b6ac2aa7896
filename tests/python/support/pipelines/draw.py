# SPDX-License-Identifier: Apache-2.0
"""Drawing of programs: frames, then steps that pandas can run."""

from dataclasses import replace
from random import Random

import pandas as pd

from pipelines.columns import KINDS, SQL_KINDS, draw_frame, draw_kind
from pipelines.known_differences import loose
from pipelines.program import Program, evaluate
from pipelines.steps import State, draw_end, draw_step

_MOST_ROWS = 3000
_NAMES = ["a", "b", "c", "d", "é x"]


def draw_program(seed, *, sql=False):
    """Draw the program of a seed; with `sql`, one that DuckDB can run too."""
    rng = Random(seed)
    kinds = SQL_KINDS if sql else KINDS
    left = {name: draw_kind(rng, kinds) for name in _NAMES[: rng.randint(1, 5)]}
    shared = rng.sample(list(left), rng.randint(1, len(left)))
    right = {name: left[name] for name in shared}
    if rng.random() < 0.6:
        right["r"] = draw_kind(rng, kinds)
    if rng.random() < 0.2:  # the same name for something else
        right[rng.choice(list(right))] = draw_kind(rng, kinds)
    program = Program(
        seed,
        draw_frame(rng, left, kinds),
        draw_frame(rng, right, kinds),
        (rng.choice([1, 2, 3, 7]), rng.choice([1, 2, 4])),
        (),
    )
    frames = program.frames()
    state = State(rng, frames[0], frames[1], sql=sql)
    steps = _draw_steps(state, rng.randint(1, 7))
    end = None
    if not sql and rng.random() < 0.2:
        end = draw_end(state)
        if end is not None and _run(end, state) is None:
            end = None
    return Program(
        seed, program.left, program.right, program.partitions, tuple(steps), end
    )


def _draw_steps(state, wanted):
    steps = []
    for _ in range(4 * wanted):
        if len(steps) == wanted:
            break
        step = draw_step(state)
        result = None if step is None else _run(step, state)
        if not isinstance(result, pd.DataFrame) or not _usable(result):
            continue
        step = replace(step, inexact=step.inexact | loose(state, step, result))
        steps.append(step)
        state.d, state.order, state.inexact = result, step.order, step.inexact
        state.has_functions |= ".astype(" in step.xs
    return steps


def _run(step, state):
    """Run a step with pandas; None where pandas refuses it."""
    try:
        return evaluate(step.pd, d=state.d, right=state.right)
    except Exception:  # whatever pandas raises for a step without meaning
        return None


def _usable(df):
    return len(df) <= _MOST_ROWS and len(df.columns) > 0 and df.columns.is_unique
