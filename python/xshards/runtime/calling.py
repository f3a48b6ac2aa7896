# SPDX-License-Identifier: Apache-2.0
"""Calls of Python functions by the engine, in a worker or on a thread."""

from __future__ import annotations

import contextlib
import inspect
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsError, XShardsTypeError, XShardsWorkerError
from xshards.runtime import convert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xshards import _core
    from xshards.interop.writable_arrays import Lend
    from xshards.runtime.functions import Task

__all__ = ["Caller"]


class Caller:
    """What the engine calls: turns payloads to values, and results to payloads.

    Parameters
    ----------
    find
        Gives the task of a hash.
    call_on_empty
        Whether a partition without rows is passed on as well.
    after_call
        Called each time a function has returned or raised.
    lend
        Lends input memory that the function may write to; without it, it gets copies.
    """

    def __init__(
        self,
        find: Callable[[str], Task],
        *,
        call_on_empty: bool = False,
        after_call: Callable[[], None] = lambda: None,
        lend: Lend | None = None,
    ) -> None:
        self._find = find
        self._after_call = after_call
        self._lend = lend
        self.call_on_empty = call_on_empty
        #: Whether a partition was skipped because it has no rows.
        self.skipped = False

    def __call__(
        self, name: str, form: str, partition: int, inputs: list[list[_core.Payload]]
    ) -> list[_core.Payload]:
        """Call the function on each payload that has rows."""
        task = self._find(name)
        if task.by_payloads:
            with self._calling(task, partition):
                made = task.function(partition, *inputs, *task.args, **task.kwargs)
                return list(made)
        # All before the first call: two payloads may show the same memory.
        values, indexed = [], []
        for payload in inputs[0]:
            empty = payload.kind == "Table" and payload.num_rows == 0
            if empty and not self.call_on_empty:
                self.skipped = True
                continue
            values.append(convert.to_value(payload, form, task.info, lend=self._lend))
            indexed.append(convert.is_indexed(payload))
        inputs.clear()
        results = []
        while values:
            with self._calling(task, partition):
                result = task.function(values.pop(0), *task.args, **task.kwargs)
            results.append(self._to_payload(result, task, indexed=indexed.pop(0)))
        return results

    def cut(self, payload: _core.Payload, rows: int) -> list[_core.Payload]:
        """Cut arrays along their first axis."""
        if payload.kind != "Tensors":
            msg = (
                "map_batches cuts shards of rows or arrays to pieces, but this one "
                "holds another object; use transform_shard"
            )
            raise XShardsTypeError(msg)
        value = convert.to_value(payload, "numpy")
        lengths = {len(array) if array.ndim else -1 for array in _leaves(value)}
        if len(lengths) != 1 or -1 in lengths:
            msg = (
                "map_batches needs arrays of equal length; these have "
                f"{[array.shape for array in _leaves(value)]}"
            )
            raise XShardsTypeError(msg)
        [length] = lengths
        pieces = [slice(at, at + rows) for at in range(0, length, rows)]
        return [
            convert.to_payload(_map_leaves(itemgetter(piece), value))
            for piece in pieces
        ]

    def join(self, payloads: list[_core.Payload]) -> list[_core.Payload]:
        """Join arrays that fit along their first axis; give other payloads as are."""
        if len(payloads) == 1 or any(p.kind != "Tensors" for p in payloads):
            return payloads
        if len({payload.tensors()[1] for payload in payloads}) != 1:
            return payloads
        values = [convert.to_value(payload, "numpy") for payload in payloads]
        columns = list(zip(*(_leaves(value) for value in values), strict=True))
        for column in columns:
            if len({(a.ndim, a.shape[1:]) for a in column}) != 1 or column[0].ndim == 0:
                return payloads
        joined = iter([np.concatenate(column) for column in columns])
        return [convert.to_payload(_map_leaves(lambda _: next(joined), values[0]))]

    @contextlib.contextmanager
    def _calling(self, task: Task, partition: int) -> Iterator[None]:
        try:
            yield
        except Exception:
            raise
        except BaseException as error:
            # It must end neither a worker nor, coming back as itself, the session.
            msg = f"{task.name} raised {error!r} on partition {partition}"
            raise XShardsWorkerError(msg) from error
        finally:
            self._after_call()

    def _to_payload(self, result: Any, task: Task, *, indexed: bool) -> _core.Payload:
        if inspect.isgenerator(result) or inspect.iscoroutine(result):
            kind = type(result).__name__
            msg = (
                f"{task.name} returned a {kind}, which cannot be kept; return a "
                "DataFrame, arrays or a list instead"
            )
            raise XShardsTypeError(msg)
        try:
            return convert.to_payload(result, indexed=indexed)
        except XShardsError:
            raise
        except Exception as error:
            msg = (
                f"{task.name} returned a {type(result).__name__} that cannot be kept: "
                f"{error}"
            )
            raise XShardsTypeError(msg) from error


def _leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [leaf for part in parts for leaf in _leaves(part)]


def _map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return function(value)
    if isinstance(value, dict):
        return {key: _map_leaves(function, part) for key, part in value.items()}
    return type(value)(_map_leaves(function, part) for part in value)
