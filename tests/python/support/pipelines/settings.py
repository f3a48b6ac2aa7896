# SPDX-License-Identifier: Apache-2.0
"""How a program is run: contexts, and steps that change no rows."""

from dataclasses import replace
from functools import cache

import xshards as xs


class _Plain(xs.Context):
    """Runs plans as they are written."""

    _optimizes = False


@cache
def context_named(name):
    """Give the Context of a name, the same one each time."""
    makers = {
        "default": lambda: None,
        "one core": lambda: xs.Context(cores=1, memory="1GB"),
        "small memory": lambda: xs.Context(cores=2, memory="16MB"),
        "not optimized": lambda: _Plain(cores=2, memory="1GB"),
    }
    return makers[name]()


def close_contexts():
    for name in ("one core", "small memory", "not optimized"):
        context_named(name).close()
    context_named.cache_clear()


def spilled(shards):
    """Cache shards and move them to disk."""
    shards.cache()
    shards._context._core.spill_all()
    return shards


def variants(program):
    """Yield the program as run in other ways, all with the same result."""
    for context in ("one core", "small memory", "not optimized"):
        yield replace(program, context=context)
    for partitions in ((1, 1), (2, 5), (40, 3)):
        yield replace(program, partitions=partitions)
    count = len(program.steps)
    for number, source in enumerate(
        (
            "s.cache()",
            "spilled(s)",
            "s.repartition(3)",
            "s.transform_shard(lambda table: table, format='arrow')",
            "s.transform_shard(lambda table: table, format='arrow', workers='threads')",
        )
    ):
        at = (program.seed + number) % (count + 1)
        # What a function returns is not known when it is united with other columns: no
        # objects are made where dtypes differ, which is an error when it runs.
        if ".transform_shard(" in source:
            at = max(at, _after_last_union(program))
        yield program.with_step(at, source)


def _after_last_union(program):
    places = [at for at, one in enumerate(program.steps, 1) if ".union(" in one.xs]
    return max(places, default=0)
