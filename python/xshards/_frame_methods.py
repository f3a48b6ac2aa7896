# SPDX-License-Identifier: Apache-2.0
"""Methods of DataFrame shards beyond the relational ones: clean, sample, summarise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from xshards import _shard_tasks, _summary
from xshards._arguments import as_names, as_seed, require
from xshards._categories import category_of, to_categories
from xshards._deferred import pd
from xshards._exports import Exports
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import Expression, as_arrow_type, col, lit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

__all__ = ["FrameMethods"]


class FrameMethods(Exports):
    """Clean, sample, summarise and assemble DataFrames."""

    def get_schema(self) -> dict[str, Any] | None:
        """Give the columns' names and pandas dtypes; None for other shards.

        Returns
        -------
        dict or None
            ``{"columns": [...], "dtypes": Series}``.

        Examples
        --------
        >>> schema = xs.from_pandas(pd.DataFrame({"a": [1], "b": ["x"]})).get_schema()
        >>> schema["columns"], str(schema["dtypes"]["a"])
        (['a', 'b'], 'int64')
        """
        if not self._holds_frames():
            return None
        return {"columns": self.columns, "dtypes": self.dtypes}

    def deduplicates(self) -> Self:
        """Keep the first of equal rows; the same as `drop_duplicates`."""
        return self.drop_duplicates()

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
            require(weights, str, "weights names a column")
            (column,) = self._keys_named("weights", weights)
        core = self._core.sample(
            -1 if n is None else n, frac or 0.0, replace, column, as_seed(random_state)
        )
        return self._derive(core)

    def dropna(
        self,
        *,
        how: Literal["any", "all"] | None = None,
        subset: str | Iterable[str] | None = None,
        thresh: int | None = None,
    ) -> Self:
        """Drop rows with missing values.

        Parameters
        ----------
        how : {"any", "all"}
            Whether one missing value is enough (the default), or all must be.
        subset : str or list of str, optional
            The columns to look at; all by default.
        thresh : int, optional
            In place of `how`: drop rows with fewer values that are there.

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
            What to drop. Columns are what Orca dropped; runs the plan to find them.
        columns : str or list of str, optional
            The columns to look at; all by default.

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
        value : constant or dict
            What to put in their place; or that by column. A constant fills the columns
            that can hold it, numbers or texts, and leaves the others as they are. A
            whole number keeps columns of whole numbers whole.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1.0, None], "s": ["x", None]})
        >>> xs.from_pandas(df).fillna({"a": 0, "s": "?"}).to_pandas()
             a  s
        0  1.0  x
        1  0.0  ?
        """
        schema = self.schema
        if isinstance(value, Mapping):
            self._check_columns(value, schema.names)
            wanted = dict(value)
            for name, one in wanted.items():
                if not _can_fill(schema.field(name).type, one):
                    msg = (
                        f"column {name!r} of {schema.field(name).type} cannot hold "
                        f"{one!r}"
                    )
                    raise XShardsTypeError(msg)
        else:
            if value is None or not pd.api.types.is_scalar(value):
                kind = type(value).__name__
                msg = (
                    f"fillna takes a constant, or a dict of them by column, got {kind}"
                )
                raise XShardsTypeError(msg)
            wanted = {
                field.name: value for field in schema if _can_fill(field.type, value)
            }
        result = self
        for name, one in wanted.items():
            filled = _filled(name, schema.field(name).type, one)
            result = result.with_column(name, filled)
        return result

    def astype(self, dtype: object) -> Self:
        """Convert columns to other types.

        Parameters
        ----------
        dtype : type or dict
            The type for all columns, or types by column; see `Expression.cast`. For
            "category" all values are looked at first, to find the categories.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
        >>> list(map(str, shards.astype({"a": "float32"}).dtypes))
        ['float32', 'int64']
        >>> shards.astype({"b": "category"}).to_pandas()["b"].cat.categories
        Index([3, 4], dtype='int64')
        """
        names = self.schema.names
        types = dtype if isinstance(dtype, Mapping) else dict.fromkeys(names, dtype)
        self._check_columns(types, names)
        result = self
        categories = {}
        for name, wanted in types.items():
            category = category_of(wanted, self.select([name]).unique)
            if category is None:
                result = result.with_column(name, col(name).cast(as_arrow_type(wanted)))
            else:
                categories[names.index(name)] = category
        return (
            result.transform_shard(to_categories, categories) if categories else result
        )

    def describe(self, cols: str | Iterable[str] | None = None) -> pd.DataFrame:
        """Summarise numeric columns, as in pandas; quartiles are exact.

        Parameters
        ----------
        cols : str or list of str, optional
            The columns; all numeric ones by default.

        Returns
        -------
        DataFrame
            With rows count, mean, std, min, 25%, 50%, 75% and max.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2, 3, 4]})).describe()
                      a
        count  4.000000
        mean   2.500000
        std    1.290994
        min    1.000000
        25%    1.750000
        50%    2.500000
        75%    3.250000
        max    4.000000
        """
        schema = self.schema
        if cols is None:
            names = [f.name for f in schema if _summary.is_number(f.type)]
        else:
            names = as_names("cols", cols)
            self._check_columns(names, schema.names)
            texts = [n for n in names if not _summary.is_number(schema.field(n).type)]
            if texts:
                msg = f"describe summarises numbers; these are none: {texts}"
                raise XShardsTypeError(msg)
        if not names:
            msg = f"there is no numeric column to describe among {schema.names}"
            raise XShardsValueError(msg)
        wanted = {name: list(_summary.MOMENTS) for name in names}
        # The number of rows has the name that the count of a column "1" has.
        if "1" not in names:
            wanted["*"] = ["count"]
        found = self._aggregate(wanted)
        num_rows = int(found["count(1)"]) if "1" not in names else None
        columns = {name: _summary.moments(found, name) for name in names}
        _summary.quartiles(self, columns, num_rows, self._context.cores)
        return _summary.table(columns)

    def max_values(self, column: str) -> Any:
        """Give the largest value of a column.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [3, 7, 5]})).max_values("a")
        np.int64(7)
        """
        require(column, str, "max_values takes a column's name")
        self._check_columns([column], self.schema.names)
        return self._aggregate({column: ["max"]})[f"max({column})"]

    def get_null_sum(self) -> pd.DataFrame:
        """Count the missing values of every column.

        Returns
        -------
        DataFrame
            With a row a column of these shards: its name, ``col``, and ``total``.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1.0, None], "b": ["x", "y"]})
        >>> xs.from_pandas(df).get_null_sum()
          col  total
        0   a      1
        1   b      0
        """
        names = self.schema.names
        missing = self._count_missing(names)
        totals = np.array([missing[name] for name in names], dtype=np.int64)
        return pd.DataFrame({"col": pd.Series(names, dtype="str"), "total": totals})

    def _count_missing(self, names: list[str]) -> dict[str, int]:
        if not names:
            return {}
        found = self._aggregate({"*": ["count"], **{name: ["count"] for name in names}})
        rows = int(found["count(1)"])
        return {name: rows - int(found[f"count({name})"]) for name in names}

    def _aggregate(self, functions: Mapping[str, list[str]]) -> dict[str, Any]:
        """Aggregate all rows to one, in one pass."""
        frame = self.group_by([], functions).to_pandas()
        return {name: frame[name].iloc[0] for name in frame}

    def concat_to_pdf(self, axis: Literal[0, 1] = 0) -> Any:
        """Put all DataFrames together to one: below each other, or side by side.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=2)
        >>> len(shards.concat_to_pdf())
        2
        """
        self._require_frames("concat_to_pdf")
        if axis not in (0, 1):
            msg = f"axis must be 0 or 1, got {axis!r}"
            raise XShardsValueError(msg)
        if axis == 0:
            return self.to_pandas()
        return pd.concat(self.collect(), axis=1)

    def sample_to_pdf(
        self,
        frac: float,
        replace: bool = False,  # noqa: FBT001 - as pandas
        weights: str | None = None,
        random_state: int | None = None,
        axis: Literal[0, 1] = 0,
    ) -> Any:
        """Draw rows at random (see `sample`) and put them together to one DataFrame.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": range(10)}), num_partitions=2)
        >>> len(shards.sample_to_pdf(0.2))
        2
        """
        return self.sample(frac, replace, weights, random_state).concat_to_pdf(axis)

    def assembleFeatureLabelCols(
        self,
        featureCols: list[str],
        labelCols: list[str],
    ) -> Self:
        """Make dicts of a feature array ``"x"`` and a label array ``"y"`` of columns.

        Parameters
        ----------
        featureCols, labelCols : list of str
            The columns of either array, side by side.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1, 2], "b": [3, 4], "t": [0, 1]})
        >>> shards = xs.from_pandas(df, num_partitions=1)
        >>> shards.assembleFeatureLabelCols(["a", "b"], ["t"]).first()
        {'x': array([[1, 3],
               [2, 4]]), 'y': array([[0],
               [1]])}
        """
        for what, names in (("featureCols", featureCols), ("labelCols", labelCols)):
            require(names, list, f"{what} must be a list of column names")
            if not names:
                msg = f"{what} must name at least one column"
                raise XShardsValueError(msg)
        wanted = [*as_names("columns", featureCols), *as_names("columns", labelCols)]
        self._check_columns(wanted, self.schema.names)
        return self.transform_shard(_assemble, featureCols, labelCols)

    def stack_feature_labels(self) -> Self:
        """Stack shards that are (feature, label) pairs to one dict a partition.

        Returns
        -------
        XShards
            Of ``{"x": float32 array, "y": float32 array}``; partitions without a pair
            hold nothing.

        Examples
        --------
        >>> x, y = xs.partition(np.ones((2, 3)), 2), xs.partition(np.arange(2), 2)
        >>> x.zip(y).stack_feature_labels().first()["x"].shape
        (1, 1, 3)
        """
        return self._transform_payloads(_shard_tasks.stack_pairs, self._shard_info())


def _assemble(
    frame: pd.DataFrame, features: list[str], labels: list[str]
) -> dict[str, np.ndarray[Any, Any]]:
    def side_by_side(names: list[str]) -> np.ndarray[Any, Any]:
        return np.stack([frame[name].to_numpy() for name in names], axis=1)

    return {"x": side_by_side(features), "y": side_by_side(labels)}


def _can_fill(column: pa.DataType, value: object) -> bool:
    """Tell whether a value is of a column's family."""
    scalar = pa.scalar(value)
    if pa.types.is_dictionary(column):
        column = column.value_type
    for family in (_is_text, pa.types.is_boolean, _summary.is_number):
        if family(column):
            return bool(family(scalar.type))
    return bool(column == scalar.type) or (
        pa.types.is_timestamp(column) and pa.types.is_timestamp(scalar.type)
    )


def _is_text(column: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(column) or pa.types.is_string(column))


def _filled(name: str, column: pa.DataType, value: object) -> Expression:
    current = col(name)
    if pa.types.is_dictionary(column):
        column = column.value_type
        current = current.cast(column)
    whole = isinstance(value, int | np.integer) or (
        isinstance(value, float) and value.is_integer()
    )
    if pa.types.is_integer(column) and not whole:
        column = pa.float64()
        current = current.cast(column)
    fill = lit(pa.scalar(value).cast(column))
    return current.isna().call("if_else", fill, current)
