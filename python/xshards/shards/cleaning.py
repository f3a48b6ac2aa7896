# SPDX-License-Identifier: Apache-2.0
"""Methods of DataFrame shards that clean data: missing values, types, samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from xshards._util.arguments import as_names, as_seed, require
from xshards._util.deferred import pd
from xshards.compute.fill import fill_of, takes
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import Expression, col, lit
from xshards.interop.astype import (
    category_of,
    dtype_named,
    engine_converts,
    is_text_of_times,
    time_parts,
)
from xshards.shards.base import Base
from xshards.shards.tasks import partition_tasks

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Cleaning"]


class Cleaning(Base):
    """Sample rows, drop or fill missing values, convert types."""

    def sample(
        self,
        frac: float | None = None,
        replace: bool = False,  # noqa: FBT001 - as pandas
        weights: str | None = None,
        random_state: int | None = None,
        *,
        n: int | None = None,
    ) -> Self:
        """Draw rows at random from all partitions; they stay in order.

        Parameters
        ----------
        frac : float, optional
            The share of rows to draw.
        replace : bool, default False
            Whether a row may be drawn more than once; needed for a `frac` over 1.
        weights : str, optional
            The column that holds the rows' weights; missing ones are 0.
        random_state : int, optional
            The seed. The same one draws the same rows of the same data, whatever its
            partitions and the number of cores.
        n : int, optional
            The number of rows to draw, in place of `frac`; one if neither is given.

        Returns
        -------
        XShards

        Raises
        ------
        ValueError
            If `frac` and `n` are both given, or one is out of range.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": range(100)}), num_partitions=3)
        >>> len(shards.sample(0.1, random_state=0)), len(shards.sample(n=7))
        (10, 7)
        """
        if frac is not None and n is not None:
            msg = "give either frac or n, not both"
            raise XShardsValueError(msg)
        if frac is not None and (not frac >= 0 or (frac > 1 and not replace)):
            msg = (
                "frac must be between 0 and 1, or more with replace=True, "
                f"got {frac} with replace={replace}"
            )
            raise XShardsValueError(msg)
        if frac is None and n is None:
            n = 1
        if n is not None and n < 0:
            msg = f"n must not be negative, got {n}"
            raise XShardsValueError(msg)
        column = ""
        if weights is not None:
            require(weights, str, "weights must be a column's name")
            (column,) = self._keys_named("weights", weights)
        core = self._core.sample(
            -1 if n is None else n, frac or 0.0, replace, column, as_seed(random_state)
        )
        return self._derive(core)

    def dropna(
        self,
        *,
        axis: Literal[0, "index", "rows", 1, "columns"] = 0,
        how: Literal["any", "all"] | None = None,
        subset: str | Iterable[str] | None = None,
        thresh: int | None = None,
        ignore_index: bool = False,
    ) -> Self:
        """Drop rows, or columns, with missing values.

        Parameters
        ----------
        axis : {0 or "index", 1 or "columns"}
            What to drop. The plan runs to find columns that have missing values.
        how : {"any", "all"}
            Whether one missing value is enough (the default), or all must be.
        subset : str or list of str, optional
            The columns to look at; all by default.
        thresh : int, optional
            In place of `how`: drop rows with fewer non-missing values.
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
            If `how` or `axis` is unknown, or `how` and `thresh` are both given.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.0, None], "b": [3, 4]}))
        >>> len(shards.dropna()), len(shards.dropna(how="all"))
        (1, 2)
        >>> len(shards.dropna(thresh=2))
        1
        """
        if how not in (None, "any", "all"):
            msg = f"how must be 'any' or 'all', got {how!r}"
            raise XShardsValueError(msg)
        if how is not None and thresh is not None:
            msg = "give either how or thresh, not both"
            raise XShardsValueError(msg)
        if ignore_index:
            bare = self._without_index()
            return bare.dropna(axis=axis, how=how, subset=subset, thresh=thresh)
        if axis in (1, "columns"):
            return self._without_columns(how, subset, thresh)
        if axis not in (0, "index", "rows"):
            msg = f"axis must be 0 or 'index', or 1 or 'columns', got {axis!r}"
            raise XShardsValueError(msg)
        visible = self.schema.names
        names = visible if subset is None else as_names("subset", subset)
        self._check_columns(names, visible)
        there = [col(name).notna() for name in names]
        if thresh is not None:
            return self._with_values(there, thresh)
        if not there:
            return self
        keep = there[0]
        for one in there[1:]:
            keep = keep | one if how == "all" else keep & one
        return self.filter(keep)

    def _without_columns(
        self, how: str | None, subset: Any, thresh: int | None
    ) -> Self:
        """Drop the columns that have too few values."""
        if subset is not None:
            msg = "subset with axis=1 is not supported: shards select no rows by label"
            raise XShardsValueError(msg)
        rows, counts = self._count_values_there(self.schema.names)
        least = min(1, rows) if how == "all" else rows if thresh is None else thresh
        few = [name for name, count in counts.items() if count < least]
        return self._derive(self._core.drop(few), same_rows=True)

    def _with_values(self, there: list[Expression], least: int) -> Self:
        """Keep the rows for which enough of some conditions are true."""
        count = lit(0)
        for one in there:
            count = count + lit(1).where(one, 0)
        return self.filter(count >= least)

    def drop_missing_value(
        self,
        axis: Literal["rows", "columns"] = "rows",
        columns: str | Iterable[str] | None = None,
    ) -> Self:
        """Drop rows, or columns, that have missing values.

        Parameters
        ----------
        axis : {"rows", "columns"}
            What to drop. Orca dropped columns; finding these runs the plan.
        columns : str or list of str, optional
            The columns to look at; all by default.

        Returns
        -------
        XShards

        Raises
        ------
        KeyError
            If there is no such column.
        ValueError
            If `axis` is unknown.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.0, None], "b": [3, 4]}))
        >>> len(shards.drop_missing_value())
        1
        >>> shards.drop_missing_value(axis="columns").columns
        ['b']
        """
        if axis not in ("rows", "columns"):
            msg = f"axis must be 'rows' or 'columns', got {axis!r}"
            raise XShardsValueError(msg)
        if axis == "rows":
            return self.dropna(subset=columns)
        visible = self.schema.names
        names = visible if columns is None else as_names("columns", columns)
        self._check_columns(names, visible)
        missing = self._count_missing(names)
        return self.drop([name for name in names if missing[name] > 0])

    def fillna(self, value: object) -> Self:
        """Replace missing values.

        Parameters
        ----------
        value : constant, or dict or Series
            The replacement, or replacements by column. A constant fills the columns of
            its kind, numbers or text, and leaves the others as they are. A whole number
            keeps columns of whole numbers whole. Categories are filled with a category
            they have.

        Returns
        -------
        XShards

        Raises
        ------
        KeyError
            If there is no such column.
        TypeError
            If `value` is not a constant, or does not fit a column.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1.0, None], "s": ["x", None]})
        >>> xs.from_pandas(df).fillna({"a": 0, "s": "?"}).to_pandas()
             a  s
        0  1.0  x
        1  0.0  ?
        """
        schema = self._full_schema()
        if isinstance(value, pd.Series):
            value = value.to_dict()
        if isinstance(value, Mapping):
            names_of = self._name_lookup("fillna")
            wanted = {
                name: one for label, one in value.items() for name in names_of(label)
            }
            self._check_columns(wanted, self.schema.names)
            fills = {n: fill_of(schema.field(n), one) for n, one in wanted.items()}
        else:
            if value is None or not pd.api.types.is_scalar(value):
                kind = type(value).__name__
                msg = (
                    f"fillna takes a constant, or a dict of them by column, got {kind}"
                )
                raise XShardsTypeError(msg)
            fills = {
                name: fill_of(schema.field(name), value)
                for name in self.schema.names
                if takes(schema.field(name), value)
            }
        return self.with_columns(fills)

    def astype(self, dtype: object) -> Self:
        """Convert columns to other types, as in pandas.

        Numbers and text are converted by the engine, all else by pandas in worker
        processes. The integers of numpy (``"int64"``, ``int``) have no missing values:
        where there are some, the run fails with a ValueError, as in pandas. ``"Int64"``
        and types of Arrow keep them.

        Parameters
        ----------
        dtype : type or dict
            The type for all columns, or types by column: of pandas, numpy or Arrow. For
            "category" all values are looked at first, to find the categories; so are
            times that become text, since pandas writes only the parts of a time that
            some value needs.

        Returns
        -------
        XShards

        Raises
        ------
        TypeError
            If there is no such type.
        ValueError
            When it runs: if a value does not convert.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
        >>> list(map(str, shards.astype({"a": "float32"}).dtypes))
        ['float32', 'int64']
        >>> shards.astype({"b": "category"}).to_pandas()["b"].cat.categories
        Index([3, 4], dtype='int64')
        """
        schema, noted = self.schema, self._full_schema()
        labels = list(dtype) if isinstance(dtype, Mapping) else schema.names
        names_of = self._name_lookup("astype")
        known = set(schema.names)
        by_engine: dict[str, Expression] = {}
        by_pandas: dict[str, Any] = {}
        for label in labels:
            wanted = dtype_named(dtype[label] if isinstance(dtype, Mapping) else dtype)
            for name in names_of(label):
                if name not in known:
                    self._check_columns([name], schema.names)
                if isinstance(wanted, pd.CategoricalDtype):
                    found = category_of(wanted, self.select([name]).unique)
                    by_pandas[name] = found
                elif engine_converts(noted.field(name), wanted):
                    by_engine[name] = col(name).astype(wanted)
                else:
                    by_pandas[name] = wanted
        result = self.with_columns(by_engine)
        if not by_pandas:
            return result
        times = [
            name
            for name, wanted in by_pandas.items()
            if is_text_of_times(noted.field(name), wanted)
        ]
        parts = self._parts_of_times(times)
        done = result._transform_payloads(
            partition_tasks.convert_columns, by_pandas, parts
        )
        return done._with_info(result._info)

    def _parts_of_times(self, names: list[str]) -> dict[str, set[str]]:
        """Find which parts the times of columns have, in all partitions."""
        if not names:
            return {}
        found: dict[str, set[str]] = {name: set() for name in names}
        for parts in self.select(names).transform_shard(time_parts).collect():
            for name, own in zip(names, parts, strict=True):
                found[name].update(own)
        return found

    def _count_missing(self, names: list[str]) -> dict[str, int]:
        rows, counts = self._count_values_there(names)
        return {name: rows - count for name, count in counts.items()}

    def _count_values_there(self, names: list[str]) -> tuple[int, dict[str, int]]:
        """Count the rows, and the values of columns that are not missing."""
        wanted = [
            ("count", None, "rows"),
            *(("count", name, str(at)) for at, name in enumerate(names)),
        ]
        grouped = self._derive(self._core.group_by([], wanted))._with_info(None)
        rows, *counts = (int(number) for number in grouped.to_pandas().iloc[0])
        return rows, dict(zip(names, counts, strict=True))
