# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards that call Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa

from xshards._util.arguments import require
from xshards.errors import XShardsValueError
from xshards.runtime.convert import FORMATS
from xshards.runtime.functions import (
    Task,
    check_own_names,
    keep_task,
    name_of,
    pack_task,
)
from xshards.shards.base import Base

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Transform"]

Format = Literal["pandas", "arrow", "polars", "numpy"]
Workers = Literal["processes", "threads"]


class Transform(Base):
    """Transform shards by functions."""

    def transform_shard(
        self,
        function: Callable[..., Any],
        *args: Any,
        workers: Workers | None = None,
        format: Format | None = None,
        **kwargs: Any,
    ) -> Self:
        """Call a Python function on every shard, in parallel.

        Nothing runs before an action needs the result; then the function runs once per
        partition and its results are kept as long as they may be needed.

        The shard is a pandas DataFrame (a Series after ``shards["column"]``) that the
        function may change in place; changes are not visible elsewhere. It is not
        called for a partition without rows, unless no partition has any.

        What it returns decides what the new shards hold: a DataFrame, Series or Arrow
        table gives rows; an ndarray, or a dict, list or tuple of ndarrays, gives
        arrays; anything else is kept as the object it is.

        The index of a DataFrame that comes back is kept if it is named or holds other
        than integers. Unnamed integers are taken for row numbers, which is what is left
        after rows were dropped: row labels restart at 0, unless the shards had such an
        index before. Where columns of partitions differ in type, `to_pandas` puts them
        together as ``pd.concat`` does.

        Parameters
        ----------
        function : callable
            Called as ``function(shard, *args, **kwargs)``. Lambdas, closures and what
            is defined in a notebook work. What it prints and logs appears here, marked
            by worker; an exception in it reaches you as itself. If its process dies, it
            runs again in another, up to three times.
        *args, **kwargs
            Passed on to the function. Large ones are better passed as `SharedValue`.
            If the function has an argument named ``workers`` or ``format`` of its own,
            bind it with ``functools.partial(function, format=...)``: passing one of
            these names while the function has it too is an error, never a guess. (A
            function that takes ``**kwargs`` does not get them.)
        workers : {"processes", "threads"}, default "processes"
            Where functions run. Processes suit all functions. Threads of this process
            suit those that release the GIL, as most of NumPy and PyArrow does, or that
            wait; they need not be picklable.
        format : {"pandas", "arrow", "polars", "numpy"}, default "pandas"
            What the function gets: a DataFrame, a ``pyarrow.Table``, a Polars frame or
            a dict of arrays.

        Returns
        -------
        XShards
            With what the function returned.

        Raises
        ------
        TypeError
            If `function` is not callable.
        ValueError
            If `workers` or `format` is unknown.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), num_partitions=2)
        >>> def scale(df, by):
        ...     df["a"] *= by
        ...     return df
        >>> shards.transform_shard(scale, 10).to_pandas()
            a
        0  10
        1  20
        2  30
        >>> shards.transform_shard(len, workers="threads").collect()
        [2, 1]
        """
        require(function, Callable, "transform_shard takes a function")
        own = {"workers": workers, "format": format}
        task = Task(function, args, kwargs, self._shard_info())
        return self._call_python(task, own, batch_size=0)

    def map_batches(
        self,
        function: Callable[..., Any],
        *args: Any,
        batch_size: int,
        workers: Workers | None = None,
        format: Format | None = None,
        **kwargs: Any,
    ) -> Self:
        """Call a Python function on consecutive pieces of every shard.

        As `transform_shard`, but only one piece is in memory at a time: for large
        shards, or functions whose output is much larger than their input. Rows that the
        calls for one partition return are joined, as are arrays, along their first
        axis; other objects are kept one by one.

        Parameters
        ----------
        function : callable
            Called as ``function(piece, *args, **kwargs)``.
        *args, **kwargs
            Passed on to the function, see `transform_shard`.
        batch_size : int
            The rows of a piece; the last one of a partition may have fewer.
        workers, format
            See `transform_shard`.

        Returns
        -------
        XShards
            With what the function returned.

        Raises
        ------
        ValueError
            If `batch_size` is less than 1, or `workers` or `format` is unknown.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": range(5)}), num_partitions=1)
        >>> shards.map_batches(len, batch_size=2).collect()
        [2, 2, 1]
        >>> shards.map_batches(lambda df: df.tail(1), batch_size=2).to_pandas()
           a
        0  1
        1  3
        2  4
        """
        require(function, Callable, "map_batches takes a function")
        if not isinstance(batch_size, int) or batch_size < 1:
            msg = f"batch_size must be an int of at least 1, got {batch_size!r}"
            raise XShardsValueError(msg)
        own = {"workers": workers, "format": format, "batch_size": batch_size}
        task = Task(function, args, kwargs, self._shard_info())
        return self._call_python(task, own, batch_size)

    def _call_python(self, task: Task, own: dict[str, Any], batch_size: int) -> Self:
        check_own_names(task.function, [n for n, given in own.items() if given])
        form = _choose("format", own["format"], FORMATS)
        workers = _choose("workers", own["workers"], get_args(Workers))
        on_threads = workers == "threads"
        name, packed = keep_task(task) if on_threads else pack_task(task)
        core = self._core.transform_python(
            name,
            name_of(task.function),
            form,
            pa.py_buffer(packed),
            batch_size,
            on_threads,
        )
        return self._derive(core)._with_info(None)


def _choose(name: str, given: Any, choices: tuple[str, ...]) -> str:
    """Check a choice; the first is the default."""
    if given is None:
        return choices[0]
    if given not in choices:
        msg = f"{name} must be one of {', '.join(choices)}, got {given!r}"
        raise XShardsValueError(msg)
    return str(given)
