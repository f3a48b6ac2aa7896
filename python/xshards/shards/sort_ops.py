# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards that order rows or compare them with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa

from xshards._util.arguments import as_names
from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.interop.field_metadata import DTYPE, marks_of
from xshards.shards.base import Base

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

__all__ = ["SortOps"]


class SortOps(Base):
    """Sort rows, keep the largest or smallest, drop duplicates."""

    def sort_values(
        self,
        by: str | Iterable[str] | None = None,
        ascending: bool | Sequence[bool] = True,  # noqa: FBT001 - as pandas
        *,
        na_position: Literal["first", "last"] = "last",
        ignore_index: bool = False,
    ) -> Self:
        """Sort all rows; rows of equal keys keep their order.

        Parameters
        ----------
        by : str or list of str, optional
            The columns to sort by; all of them by default, as for one column alone:
            ``shards["a"].sort_values()``.
        ascending : bool or list of bool
            The direction, for all or for each.
        na_position : {"first", "last"}
            Where rows with a missing key go.
        ignore_index : bool, default False
            Leave the index out.

        Returns
        -------
        XShards

        Raises
        ------
        KeyError
            If there is no such column.
        ValueError
            If `ascending` has another length than `by`, or `na_position` is
            unknown.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [2, 3, 1]}))
        >>> list(shards.sort_values("a", ascending=False).to_pandas()["a"])
        [3, 2, 1]
        """
        keys = self._keys_named("by", self._labels() if by is None else by)
        one = isinstance(ascending, bool | int | np.bool_)
        up = [ascending] * len(keys) if one else list(cast("Sequence[bool]", ascending))
        if len(up) != len(keys):
            msg = f"ascending needs {len(keys)} values, one for each key, got {len(up)}"
            raise XShardsValueError(msg)
        if na_position not in ("first", "last"):
            msg = f"na_position must be 'first' or 'last', got {na_position!r}"
            raise XShardsValueError(msg)
        pairs = list(zip(keys, map(bool, up), strict=True))
        result = self._derive(self._core.sort(pairs, na_position == "first"))
        return result._without_index() if ignore_index else result

    def nlargest(self, n: int = 5, columns: Any = None, keep: str = "first") -> Self:
        """Keep the `n` rows with the largest values, the largest first.

        Of rows that are equal the first ones are kept; missing values come last.

        Parameters
        ----------
        n : int, default 5
            How many.
        columns : label or list of labels, optional
            What to compare by: numbers or times. May be left out for one column:
            ``shards["a"].nlargest(3)``.
        keep : "first"
            Which of equal rows to keep; only the first ones can be.

        Returns
        -------
        XShards

        Raises
        ------
        TypeError
            If a column holds neither numbers nor times, or none is given for
            several.
        NotImplementedError
            If `keep` is not "first".

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [2, 3, 1], "b": list("xyz")}))
        >>> list(shards.nlargest(2, "a").to_pandas()["b"])
        ['y', 'x']
        """
        return self._first_rows("nlargest", n, columns, keep, ascending=False)

    def nsmallest(self, n: int = 5, columns: Any = None, keep: str = "first") -> Self:
        """Keep the `n` rows with the smallest values, the smallest first.

        Of rows that are equal the first ones are kept; missing values come last.

        Parameters
        ----------
        n : int, default 5
            The number of rows.
        columns, keep
            See `nlargest`.

        Returns
        -------
        XShards

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [2, 3, 1], "b": list("xyz")}))
        >>> list(shards.nsmallest(2, "a").to_pandas()["b"])
        ['z', 'x']
        """
        return self._first_rows("nsmallest", n, columns, keep, ascending=True)

    def _first_rows(
        self, method: str, n: int, columns: Any, keep: str, *, ascending: bool
    ) -> Self:
        if keep != "first":
            msg = f"{method} keeps the first of equal rows, got keep={keep!r}"
            raise XShardsNotImplementedError(msg)
        if columns is None and len(self._labels()) != 1:
            msg = f"{method} needs columns to compare by, one of {self._labels()}"
            raise XShardsTypeError(msg)
        names = self._keys_named(
            "columns", self._labels() if columns is None else columns
        )
        schema = self._full_schema()
        self._check_columns(names, schema.names)
        for field in (schema.field(name) for name in names):
            kind = marks_of(field).get(DTYPE)
            if kind in ("object", "category") or not _has_size(field.type):
                given = f"column {field.name!r} of type {field.type}"
                msg = f"{method} compares numbers or times, got {given}"
                raise XShardsTypeError(msg)
        return self.sort_values(names, ascending).limit(max(n, 0))

    def drop_duplicates(
        self,
        subset: str | Iterable[str] | None = None,
        *,
        keep: Literal["first", "last", False] = "first",
        ignore_index: bool = False,
    ) -> Self:
        """Keep one of the rows that are equal; the order and the index stay.

        Parameters
        ----------
        subset : str or list of str, optional
            The columns to compare; all by default. Missing values equal each other.
        keep : {"first", "last", False}
            Which one to keep; False keeps only rows that have no equal.
        ignore_index : bool, default False
            Leave the index out.

        Returns
        -------
        XShards

        Raises
        ------
        KeyError
            If there is no such column.
        ValueError
            If `keep` is unknown.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1, 1, 2], "b": [3, 4, 5]})
        >>> xs.from_pandas(df).drop_duplicates("a", keep="last").to_pandas()
           a  b
        0  1  4
        1  2  5
        """
        if keep not in ("first", "last", False):
            msg = f"keep must be 'first', 'last' or False, got {keep!r}"
            raise XShardsValueError(msg)
        hidden = self._hidden()
        names = [n for n in self._full_schema().names if n not in hidden]
        keys = names if subset is None else as_names("subset", subset)
        self._check_columns(keys, names)
        result = self
        if keys:
            keyed, added = self._with_keys(self._objects_among(keys))
            if added:
                keyed._full_schema()  # so that the result's columns are known
            by = [added.get(key, key) for key in keys]
            core = keyed._core.drop_duplicates(by, keep or "none")
            result = keyed._derive(core.drop(list(added.values())) if added else core)
        return result._without_index() if ignore_index else result


def _has_size(arrow: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(arrow)
        or types.is_floating(arrow)
        or types.is_boolean(arrow)
        or types.is_decimal(arrow)
        or types.is_timestamp(arrow)
        or types.is_duration(arrow)
    )
