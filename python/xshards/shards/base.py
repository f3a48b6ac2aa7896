# SPDX-License-Identifier: Apache-2.0
"""The base of all parts of XShards: the plan, the session and pandas metadata."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pyarrow as pa

from xshards import profile
from xshards._util.deferred import pd
from xshards.errors import XShardsKeyError, XShardsTypeError, XShardsValueError
from xshards.expressions import col
from xshards.interop.frames import FrameInfo
from xshards.interop.labels import (
    engine_names,
    hidden_names,
    label_of,
    labelled_names,
    level_of,
    same_label,
)
from xshards.io.storage_options import named
from xshards.profile.progress import progress_bar
from xshards.runtime.functions import Task, name_of, pack_task
from xshards.shards.protocol import ShardMethods

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from xshards import _core
    from xshards.context import Context

__all__ = ["Base"]

Result = TypeVar("Result")


def _warn_of_bad_lines(context: Context) -> None:
    """Warn of lines that the last action skipped with ``on_bad_lines="warn"``."""
    count, first, begin_ns = context._core.bad_lines()
    # An action that runs nothing keeps the profile of the previous one.
    if count > 0 and context.warned_of != begin_ns:
        context.warned_of = begin_ns
        what = "1 line was skipped" if count == 1 else f"{count} lines were skipped"
        msg = f"{what}. The first: {named(first)}"
        warnings.warn(msg, pd.errors.ParserWarning, stacklevel=4)


class Base(ShardMethods):
    """A plan and the context to run it. Immutable, but for `cache` and `uncache`."""

    def __init__(
        self,
        core: _core.XShards,
        context: Context,
        info: FrameInfo | None = None,
        *,
        in_memory: bool = False,
    ) -> None:
        self._core = core
        self._context = context
        self._info = info
        self._in_memory = in_memory

    def __reduce__(self) -> NoReturn:
        # Also raised for a function that uses shards of the surrounding script.
        msg = (
            "XShards cannot be pickled: they hold a plan, which stays in the process "
            "that made it. A function that runs on shards cannot use other shards: "
            "merge the two first, or pass the rows it needs as an argument "
            "(xs.SharedValue(other.to_pandas()) keeps one copy for all workers)"
        )
        raise XShardsTypeError(msg)

    def _derive(self, core: _core.XShards, *, same_rows: bool = False) -> Self:
        """Wrap a plan made from this one; its errors are raised at once.

        With `same_rows`, the rows are the same in the same order (or the first of
        them), and keep the numbers of a RangeIndex.
        """
        core.known_schema()
        info = self._info
        if info is not None and not same_rows:
            info = info.renumbered()
        return type(self)(core, self._context, info)

    def _with_info(self, info: FrameInfo | None) -> Self:
        return type(self)(self._core, self._context, info, in_memory=self._in_memory)

    def _run(self, action: Callable[[Any], Result]) -> Result:
        """Run an action, which takes what to call with its progress."""
        with progress_bar(self._context.progress) as bar:
            profile.remember(self._core.context)
            result = action(bar)
        _warn_of_bad_lines(self._context)
        return result

    def _full_schema(self) -> pa.Schema:
        """Return the schema with hidden columns; runs the plan if it is unknown."""
        known = self._core.known_schema()
        if known is None:
            known = self._run(self._core.schema)
        if known is None:
            msg = (
                f"these shards hold {self._kind_name()}, not DataFrames, so they have "
                "no columns: convert them to DataFrames with transform_shard"
            )
            raise XShardsTypeError(msg)
        return known

    def _kinds(self) -> set[str]:
        """Return the kinds of the shards; runs the plan if they are unknown."""
        if self._core.gives_tables():
            return {"Table"}
        kinds, _ = self._run(self._core.contents)
        return set(kinds)

    def _holds_frames(self) -> bool:
        return self._kinds() == {"Table"}

    def _kind_name(self) -> str:
        match sorted(self._kinds()):
            case []:
                return "nothing"
            case ["Tensors"]:
                return "arrays"
            case ["Table"]:
                return "DataFrames"
            case ["Object"]:
                return "Python objects"
        return "values of several kinds"

    def _require_frames(self, method: str) -> None:
        """Raise if the shards are not DataFrames, for a method that works on rows."""
        if not self._holds_frames():
            msg = (
                f"{method} works on DataFrame shards, but these hold "
                f"{self._kind_name()}: convert them to DataFrames with transform_shard"
            )
            raise XShardsTypeError(msg)

    def _transform_payloads(
        self,
        function: Callable[..., list[_core.Payload]],
        *args: Any,
        beside: Base | None = None,
    ) -> Self:
        """Call one of the package's functions once per partition, in workers.

        It gets the partition's number, its payloads, the payloads `beside` it, and
        `args`.
        """
        task = Task(function, args, {}, self._shard_info(), by_payloads=True)
        name, pickled = pack_task(task)
        label, buffer = name_of(function), pa.py_buffer(pickled)
        if beside is None:
            core = self._core.transform_python(name, label, "pandas", buffer)
        else:
            core = self._core.transform_pair(beside._core, name, label, buffer)
        return self._derive(core)._with_info(None)

    def _known_info(self, schema: pa.Schema) -> FrameInfo:
        return FrameInfo.load(schema) if self._info is None else self._info

    def _current_info(self) -> FrameInfo:
        """Return the pandas metadata, as far as it is known without running."""
        if self._info is not None:
            return self._info
        schema = self._core.known_schema()
        return FrameInfo() if schema is None else FrameInfo.load(schema)

    def _shard_info(self) -> FrameInfo | None:
        """Describe a single shard: its rows are counted from 0."""
        return None if self._info is None else self._info.renumbered()

    def _hidden(self) -> list[str]:
        """Name the columns that hold the index, as far as it is known."""
        schema = self._core.known_schema()
        return [] if schema is None else hidden_names(schema)

    def _columns_named(self, what: str, labels: object) -> list[str]:
        """Return the engine's names of columns given by one label or several.

        A label that several columns have names all of them, as in pandas.
        """
        names_of = self._name_lookup(what)
        names = [name for label in self._listed(labels) for name in names_of(label)]
        for name in self._hidden():
            if name in names:
                msg = f"{what}: {name!r} is the index, not a column"
                raise XShardsKeyError(msg)
        return names

    def _select(self, names: list[str]) -> Self:
        """Keep columns by the engine's names, and the index."""
        hidden = [name for name in self._hidden() if name not in names]
        return self._derive(self._core.select([*names, *hidden]), same_rows=True)

    def _without_index(self) -> Self:
        hidden = self._hidden()
        if not hidden:
            return self
        return self._derive(self._core.drop(hidden), same_rows=True)

    def _is_series(self) -> bool:
        return self._known_info(self._full_schema()).series

    def _making_way(self, names: Iterable[str]) -> Self:
        """Rename hidden columns whose names collide with those of new columns."""
        hidden, wanted = self._hidden(), set(names)
        if not wanted.intersection(hidden):
            return self
        used = self._full_schema().names
        fresh = engine_names([*used, *wanted, *["__index__"] * len(used)])[-len(used) :]
        core = self._core.select_named(
            [
                (new if old in wanted and old in hidden else old, col(old)._core)
                for old, new in zip(used, fresh, strict=True)
            ]
        )
        return self._derive(core, same_rows=True)

    def _keys_named(self, what: str, labels: object) -> list[str]:
        """Return the engine's name of each label, which must be that of one column."""
        key_of = self._key_lookup(what)
        return [key_of(label) for label in self._listed(labels)]

    def _key_lookup(self, what: str) -> Callable[[object], str]:
        """Make a function that gives the engine's name of the one column of a label."""
        names_of = self._name_lookup(what)

        def key_of(label: object) -> str:
            found = names_of(label)
            if len(found) > 1:
                msg = f"{what}: {len(found)} columns are labelled {label!r}"
                raise XShardsValueError(msg)
            return found[0]

        return key_of

    def _listed(self, labels: object) -> list[object]:
        if not isinstance(labels, Iterable) or isinstance(labels, str):
            return [labels]
        return [labels] if self._is_label(labels) else list(labels)

    def _is_label(self, candidate: object) -> bool:
        if not isinstance(candidate, tuple):
            return False
        return any(same_label(label_of(f), candidate) for f in self._full_schema())

    def _name_lookup(self, what: str) -> Callable[[object], list[str]]:
        """Make a function that gives the engine's names of the columns of a label."""
        schema = self._core.known_schema()
        known = None if schema is None else labelled_names(schema)

        def names_of(label: object) -> list[str]:
            nonlocal known
            if known is None and isinstance(label, str):
                return [label]  # a missing column is reported when the plan runs
            if known is None:
                known = labelled_names(self._full_schema())
            found = known.find(label)
            if found:
                return found
            if isinstance(label, str):
                # The engine's own name of a column, or an index level; otherwise it
                # reports the error.
                return [label]
            msg = f"{what}: no column {label!r}; the columns are {known.labels}"
            raise XShardsKeyError(msg)

        return names_of

    def _labels(self) -> list[Any]:
        """Return the labels of the columns, without the index."""
        return [label_of(f) for f in self._full_schema() if level_of(f) is None]

    def _check_columns(self, wanted: Iterable[Any], names: Iterable[Any]) -> None:
        there = list(names)
        known = set(there)
        missing = [n for n in wanted if not isinstance(n, Hashable) or n not in known]
        if missing:
            msg = f"no column {missing[0]!r}; the columns are {there}"
            raise XShardsKeyError(msg)
