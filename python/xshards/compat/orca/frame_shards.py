# SPDX-License-Identifier: Apache-2.0
"""What SparkXShards of DataFrames can do: all of it native but their samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.compat.errors import OrcaInputError, OrcaTypeError
from xshards.compat.orca.shard_base import DATA_FRAME, SERIES, ShardBase, frames_of
from xshards.compat.spark import aggregates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    import numpy as np
    import pandas as pd
    from pyspark.sql import DataFrame as SparkDataFrame

    from xshards.shards import XShards

__all__ = ["FrameShards"]

_FRAMES = "Pandas DataFrame"


class FrameShards(ShardBase):
    """Partition, group, join, sort and summarise DataFrames."""

    def partition_by(self, cols: Any, num_partitions: int | None = None) -> Self:
        """Bring rows of equal values in a column to one partition.

        Partitions that get no row hold no element. None keeps their number.
        """
        self._require(DATA_FRAME, "partition_by", _FRAMES)
        if not isinstance(cols, str):
            msg = f"Only support partition by a column name, got {cols!r}"
            raise OrcaTypeError(msg)
        frames = self._frames()
        if cols not in frames.columns:
            msg = (
                f"The partition column is not in the DataFrame: {cols!r} is not among "
                f"{frames.columns}"
            )
            raise OrcaInputError(msg)
        partitioned = self._of(lambda rows: rows.partition_by(cols, num_partitions))
        self._uncache()
        return partitioned

    def unique(self) -> np.ndarray[Any, Any]:
        """Give the distinct values of Series, as ``shards["column"].unique()``."""
        self._require(SERIES, "unique()", "Pandas Series")
        values: np.ndarray[Any, Any] = self._frames().unique()
        return values

    def deduplicates(self) -> Self:
        """Keep the first of equal rows."""
        self._require(DATA_FRAME, "deduplicates()", _FRAMES)
        return self._of(lambda rows: rows.deduplicates())

    def sort_values(
        self,
        col_names: str | Sequence[str] | None = None,
        ascending: bool = True,  # noqa: FBT001 - as in Orca
    ) -> Self:
        """Sort all rows, by all columns if none are given; partitions stay as many."""
        self._require(DATA_FRAME, "sort_values()", _FRAMES)
        keys = self._frames().columns if col_names is None else col_names
        count = self.num_partitions()

        def sort(rows: XShards) -> XShards:
            ordered = rows.sort_values(keys, ascending)
            same = ordered.num_partitions() == count
            return ordered if same else ordered.repartition(count)

        return self._of(sort)

    def max_values(self, col_name: str) -> Any:
        """Give the largest value of a column."""
        self._require(DATA_FRAME, "max_values()", _FRAMES)
        return self._frames().max_values(col_name)

    def get_null_sum(self) -> pd.DataFrame:
        """Count missing values: a DataFrame of ``col`` and ``total``."""
        self._require(DATA_FRAME, "get_null_sum()", _FRAMES)
        return self._frames().get_null_sum()

    def drop_missing_value(self) -> Self:
        """Drop rows with missing values."""
        self._require(DATA_FRAME, "drop_missing_value()", _FRAMES)
        dropped = self._of(lambda rows: rows.drop_missing_value())
        self._uncache()
        return dropped

    def assembleFeatureLabelCols(self, featureCols: Any, labelCols: Any) -> Self:
        """Make dicts of two arrays, "x" of the feature and "y" of the label columns."""
        self._require(DATA_FRAME, "assembleFeatureLabelCols()", _FRAMES)
        for name, given in (("featureCols", featureCols), ("labelCols", labelCols)):
            if not isinstance(given, list):
                msg = f"expect {name} is a list, got {given!r}"
                raise OrcaTypeError(msg)
        result = self._of(
            lambda rows: rows.assembleFeatureLabelCols(featureCols, labelCols), None
        )
        self._uncache()
        return result

    def group_by(
        self,
        columns: str | Sequence[str] = (),
        agg: str | Sequence[str] | Mapping[str, str | Sequence[str]] = "count",
        join: bool = False,  # noqa: FBT001 - as in Orca
    ) -> Self:
        """Aggregate the rows of each group; columns are named as in ``sum(price)``."""
        self._require(DATA_FRAME, "group_by()", _FRAMES)
        return self._of(lambda rows: aggregates.group_by(rows, columns, agg, join=join))

    def merge(
        self,
        right: Any,
        how: Any = "inner",
        on: str | Sequence[str] | None = None,
    ) -> Self:
        """Join with other shards on equal values of columns."""
        if not isinstance(right, FrameShards):
            msg = f"right should be a SparkXShards, got {type(right).__name__}"
            raise OrcaTypeError(msg)
        self._require(DATA_FRAME, "merge()", _FRAMES)
        right._require(DATA_FRAME, "merge()", _FRAMES)
        other = right.rdd
        return self._of(lambda rows: rows.merge(frames_of(other), how, on))

    def sample(
        self,
        frac: float,
        replace: bool = False,  # noqa: FBT001 - as pandas
        weights: Any = None,
        random_state: Any = None,
    ) -> Self:
        """Draw rows at random from every partition, as pandas does."""
        self._require(DATA_FRAME, "sample()", _FRAMES)
        options = {
            "frac": frac,
            "replace": replace,
            "weights": weights,
            "random_state": random_state,
        }
        return self._of(lambda rows: rows.transform_shard(_sampled, options))

    def select(self, cols: str | Sequence[str]) -> Self:
        """Keep these columns."""
        self._require(DATA_FRAME, "select()", _FRAMES)
        wanted = _checked_columns(cols, self._frames())
        return self._of(lambda rows: rows.select(wanted))

    def describe(self, cols: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Summarise numeric columns."""
        self._require(DATA_FRAME, "describe()", _FRAMES)
        frames = self._frames()
        wanted = None if cols is None else _checked_columns(cols, frames)
        summary: pd.DataFrame = frames.describe(wanted)
        return summary

    def head(self, n: int = 5) -> pd.DataFrame:
        """Give the first rows of the first element."""
        rows: pd.DataFrame = self.first().head(n)
        return rows

    def concat_to_pdf(self, axis: Any = 0) -> pd.DataFrame:
        """Put all DataFrames together to one."""
        self._require(DATA_FRAME, "concat_to_pdf()", _FRAMES)
        frame: pd.DataFrame = self._frames().concat_to_pdf(axis)
        return frame

    def sample_to_pdf(
        self,
        frac: float,
        replace: bool = False,  # noqa: FBT001 - as pandas
        weights: Any = None,
        random_state: Any = None,
        axis: Any = 0,
    ) -> pd.DataFrame:
        """Draw rows at random and put them together to one DataFrame."""
        self._require(DATA_FRAME, "sample_to_pdf()", _FRAMES)
        return self.sample(frac, replace, weights, random_state).concat_to_pdf(axis)

    def get_schema(self) -> dict[str, Any] | None:
        """Give the columns and their dtypes; None if these are no DataFrames."""
        if self._get_class_name() != DATA_FRAME:
            return None
        return self._frames().get_schema()

    def to_spark_df(self) -> SparkDataFrame:
        """Give all rows to Spark, whose session is started unless there is one.

        Needs pyspark and Java. Rows go through this process, as Arrow columns.
        """
        self._require(DATA_FRAME, "to_spark_df()", _FRAMES)
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            msg = "to_spark_df needs Spark: pip install pyspark, and a Java runtime"
            raise OrcaInputError(msg) from error
        session = SparkSession.builder.getOrCreate()
        return session.createDataFrame(self._frames().to_arrow())


def _sampled(frame: pd.DataFrame, options: Mapping[str, Any]) -> pd.DataFrame:
    return frame.sample(**options)


def _checked_columns(cols: str | Sequence[str], frames: XShards) -> list[str]:
    if not isinstance(cols, str | list):
        msg = f"cols should be str or list, got {cols!r}"
        raise OrcaTypeError(msg)
    wanted = [cols] if isinstance(cols, str) else list(cols)
    missing = [name for name in wanted if name not in frames.columns]
    if missing:
        msg = (
            f"{missing} do not exist in this XShards; its columns are {frames.columns}"
        )
        raise OrcaInputError(msg)
    return wanted
