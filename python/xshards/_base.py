# SPDX-License-Identifier: Apache-2.0
"""What the parts of XShards share: the plan, the session and what pandas knew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from xshards import profile
from xshards._pandas import FrameInfo
from xshards.errors import XShardsKeyError
from xshards.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    import pyarrow as pa

    from xshards import _core
    from xshards.context import Context

__all__ = ["Base"]

Result = TypeVar("Result")


class Base:
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

    def _derive(self, core: _core.XShards) -> Self:
        """Wrap a plan made from this one, with its mistakes found at once."""
        core.known_schema()
        return type(self)(core, self._context, self._info)

    def _with_info(self, info: FrameInfo | None) -> Self:
        return type(self)(self._core, self._context, info, in_memory=self._in_memory)

    def _run(self, action: Callable[[Any], Result]) -> Result:
        """Run an action, which takes what to call with its progress."""
        with progress_bar(self._context.progress) as bar:
            profile.remember(self._core.context)
            return action(bar)

    def _full_schema(self) -> pa.Schema:
        """Give the schema with hidden columns, running the plan if only that tells."""
        known = self._core.known_schema()
        return self._run(self._core.schema) if known is None else known

    def _known_info(self, schema: pa.Schema) -> FrameInfo:
        return FrameInfo.load(schema) if self._info is None else self._info

    def _current_info(self) -> FrameInfo:
        """Give what pandas knew, as far as it is known without running."""
        if self._info is not None:
            return self._info
        schema = self._core.known_schema()
        return FrameInfo() if schema is None else FrameInfo.load(schema)

    def _hidden(self) -> list[str]:
        """Name the columns that hold the index, as far as it is known."""
        return self._current_info().hidden

    def _check_columns(self, wanted: Iterable[str], names: Iterable[str]) -> None:
        there = list(names)
        missing = [name for name in wanted if name not in there]
        if missing:
            msg = f"no column {missing[0]!r}; the columns are {there}"
            raise XShardsKeyError(msg)
