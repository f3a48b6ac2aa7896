# SPDX-License-Identifier: Apache-2.0
"""A program on two frames: its source, and its runs by XShards and by pandas."""

import contextlib
import warnings
from dataclasses import dataclass, replace

import numpy as np

import xshards as xs
from pipelines import oracle, settings
from pipelines.columns import Frame
from pipelines.expressions import NAMES

_NAMES = {
    name: value
    for module in (oracle, settings)
    for name, value in vars(module).items()
    if name[0] != "_"
}


@dataclass(frozen=True)
class Step:
    """One operation, as the right-hand side of an assignment.

    `xs` names shards `s` and `other`, `pd` the frames `d` and `right`, `sql` the
    relations `{s}` and `other`. `order` is what is known of the order of its rows:
    "all", "none", or the columns that they are sorted by.
    """

    xs: str
    pd: str
    sql: str | None = None
    order: object = "all"
    inexact: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Program:
    """Steps on the frame `left`, which may use the frame `right`."""

    seed: int
    left: Frame
    right: Frame
    partitions: tuple[int, int]
    steps: tuple[Step, ...]
    #: The last step where it gives no shards, such as value_counts.
    end: Step | None = None
    #: The Context that it runs in, see settings.py.
    context: str = "default"

    @property
    def order(self):
        last = self.end or (self.steps[-1] if self.steps else None)
        return "all" if last is None else last.order

    @property
    def inexact(self):
        """Name the columns that hold sums of floats and what is made of them."""
        last = self.end or (self.steps[-1] if self.steps else None)
        return frozenset() if last is None else last.inexact

    def frames(self):
        return tuple(
            eval(frame.source(), dict(NAMES)) for frame in (self.left, self.right)
        )

    def run_pandas(self, frames=None):
        left, right = self.frames() if frames is None else frames
        d = left.copy()
        for step in self.steps:
            d = evaluate(step.pd, d=d, right=right)
        return d if self.end is None else evaluate(self.end.pd, d=d, right=right)

    def run_xshards(self, frames=None):
        left, right = self.frames() if frames is None else frames
        context = settings.context_named(self.context)
        s = xs.from_pandas(left, self.partitions[0], context=context)
        other = xs.from_pandas(right, self.partitions[1], context=context)
        for step in self.steps:
            s = evaluate(step.xs, s=s, other=other)
        if self.end is not None:
            return evaluate(self.end.xs, s=s, other=other)
        return s.to_pandas()

    def with_step(self, at, source):
        """Add a step that changes no rows and no order."""
        kept = self.steps[at - 1] if at else Step("", "")
        step = replace(kept, xs=source, pd="d", sql="SELECT * FROM {s}")
        return replace(self, steps=(*self.steps[:at], step, *self.steps[at:]))

    def source(self, note=""):
        """Write it as Python that runs with tests/python/support in the path."""
        lines = [
            f"# seed {self.seed}{note}",
            "from datetime import date",
            "from decimal import Decimal",
            "",
            "import numpy as np",
            "import pandas as pd",
            "from numpy import inf, nan",
            "from pipelines.oracle import *  # PYTHONPATH=tests/python/support",
            "from pipelines.settings import *",
            "",
            "import xshards as xs",
            "",
            f"left = {self.left.source()}",
            f"right = {self.right.source()}",
            f"context = context_named({self.context!r})",
            f"s = xs.from_pandas(left, {self.partitions[0]}, context=context)",
            f"other = xs.from_pandas(right, {self.partitions[1]}, context=context)",
            *(f"s = {step.xs}" for step in self.steps),
            f"print({'s.to_pandas()' if self.end is None else self.end.xs})",
            "d = left",
            *(f"d = {step.pd}" for step in self.steps),
            f"print({'d' if self.end is None else self.end.pd})",
        ]
        return "\n".join(lines)


def evaluate(source, **names):
    """Evaluate a step, without the warnings of pandas and numpy."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate(all="ignore"))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return eval(source, {"xs": xs, **NAMES, **_NAMES, **names})
