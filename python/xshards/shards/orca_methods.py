# SPDX-License-Identifier: Apache-2.0
"""Methods that Orca's XShards have beyond those of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from xshards._util.arguments import as_names, require
from xshards._util.deferred import pd
from xshards.errors import XShardsValueError
from xshards.shards.base import Base
from xshards.shards.tasks import partition_tasks

if TYPE_CHECKING:
    from typing import Self

__all__ = ["OrcaMethods"]


class OrcaMethods(Base):
    """Describe, deduplicate and assemble shards under Orca's names."""

    def get_schema(self) -> dict[str, Any] | None:
        """Return the columns' names and pandas dtypes; None for other shards.

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
        """Keep the first of equal rows; the same as `drop_duplicates`.

        Returns
        -------
        XShards

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 1, 2]}))
        >>> len(shards.deduplicates())
        2
        """
        return self.drop_duplicates()

    def max_values(self, column: str) -> Any:
        """Return the largest value of a column.

        Parameters
        ----------
        column : str
            The column's name.

        Returns
        -------
        scalar

        Raises
        ------
        KeyError
            If there is no such column.

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
            With one row per column: its name, ``col``, and ``total``.

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

    def concat_to_pdf(self, axis: Literal[0, 1] = 0) -> Any:
        """Concatenate all DataFrames to one: by rows, or side by side.

        Parameters
        ----------
        axis : {0, 1}
            0 appends rows, 1 puts the DataFrames side by side.

        Returns
        -------
        DataFrame

        Raises
        ------
        TypeError
            If the shards are not DataFrames.
        ValueError
            If `axis` is neither.

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
        """Draw rows at random (see `sample`) and concatenate them to one DataFrame.

        Parameters
        ----------
        frac, replace, weights, random_state
            See `sample`.
        axis : {0, 1}
            See `concat_to_pdf`.

        Returns
        -------
        DataFrame

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

        Returns
        -------
        XShards
            Of ``{"x": array, "y": array}``.

        Raises
        ------
        KeyError
            If there is no such column.
        TypeError
            If columns are not given as lists.
        ValueError
            If a list is empty.

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
        """Stack shards that are (feature, label) pairs to one dict per partition.

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
        return self._transform_payloads(partition_tasks.stack_pairs, self._shard_info())


def _assemble(
    frame: pd.DataFrame, features: list[str], labels: list[str]
) -> dict[str, np.ndarray[Any, Any]]:
    def side_by_side(names: list[str]) -> np.ndarray[Any, Any]:
        return np.stack([frame[name].to_numpy() for name in names], axis=1)

    return {"x": side_by_side(features), "y": side_by_side(labels)}
