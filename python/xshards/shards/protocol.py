# SPDX-License-Identifier: Apache-2.0
"""The methods that parts of XShards call on each other.

A theme (`RowOps`, `Merge`, `Writers`, …) is a class that inherits `Base` alone and
imports no other theme. What it calls on another one is declared here, so that mypy
checks the call, and checks that `XShards`, which combines the themes, defines it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    import pandas as pd
    import pyarrow as pa

    from xshards.compute.reduce import Column
    from xshards.expressions import Expression

__all__ = ["Aggregate", "ShardMethods"]

#: A function, the column it aggregates (None for all rows) and its result's name.
Aggregate = tuple[str, str | None, str]


class ShardMethods(Protocol):
    """Methods that one theme of XShards defines and others call."""

    # RowOps

    def __getitem__(self, key: Any) -> Self:
        """Select columns or rows."""

    def select(self, columns: Any) -> Self:
        """Keep columns."""

    def filter(self, condition: Expression) -> Self:
        """Keep the rows for which a condition is true."""

    def with_column(self, name: str, value: object) -> Self:
        """Add or replace a column."""

    def with_columns(self, columns: Mapping[str, object]) -> Self:
        """Add or replace columns."""

    def drop(self, columns: Any) -> Self:
        """Leave columns out."""

    # Transform

    def transform_shard(
        self, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Self:
        """Call a Python function on every shard."""

    # ExchangeOps

    def repartition(self, num_partitions: int) -> Self:
        """Spread the data evenly over partitions."""

    def limit(self, n: int) -> Self:
        """Keep the first rows."""

    # SortOps

    def drop_duplicates(self) -> Self:
        """Keep one of the rows that are equal."""

    # GroupBy and ObjectKeys

    def _aggregate(self, functions: Mapping[str, list[str]]) -> dict[str, Any]:
        """Aggregate all rows to one, in one pass."""

    def _grouped(
        self,
        keys: Sequence[str],
        aggregates: Sequence[Aggregate],
        *,
        ordered: bool = False,
    ) -> Self:
        """Aggregate the rows of each group."""

    def _objects_among(self, names: Iterable[str]) -> list[str]:
        """Return the columns of Python objects."""

    def _with_keys(self, objects: Sequence[str]) -> tuple[Self, dict[str, str]]:
        """Add a column of comparable bytes for each column of Python objects."""

    # Merge

    def merge(self, right: Self, *, on: Any, how: Any) -> Self:
        """Join with other shards."""

    # PayloadOps

    def compute(self) -> Self:
        """Run the plan now."""

    def _count_rows(self) -> int:
        """Count the rows, or add up the lengths of other shards."""

    def _item(self, key: Any) -> Self:
        """Return ``shard[key]`` of every shard."""

    def _repartition_payloads(self, count: int) -> Self:
        """Spread shards other than DataFrames over partitions."""

    # Cleaning

    def sample(
        self,
        frac: float | None = None,
        replace: bool = False,  # noqa: FBT001 - as pandas
        weights: str | None = None,
        random_state: int | None = None,
    ) -> Self:
        """Draw rows at random."""

    def _count_missing(self, names: list[str]) -> dict[str, int]:
        """Count the missing values of columns."""

    # Aggregation, Analysis and Reductions

    def agg(self, func: Any) -> Any:
        """Reduce columns."""

    def _reduced(self, function: str, options: Mapping[str, Any]) -> Any:
        """Reduce the one column, or all of them."""

    def _visible_columns(self) -> list[Column]:
        """Return the columns that are not the index."""

    def _count_groups(self, *, dropna: bool) -> pd.DataFrame:
        """Return distinct rows and how often each occurs."""

    # Actions and Exports

    @property
    def schema(self) -> pa.Schema:
        """The columns' names and types."""

    @property
    def columns(self) -> list[Any]:
        """The columns' labels."""

    @property
    def dtypes(self) -> pd.Series[Any]:
        """The columns' pandas dtypes."""

    def num_partitions(self) -> int:
        """Count the partitions."""

    def is_cached(self) -> bool:
        """Return whether the partitions are kept."""

    def collect(self) -> list[Any]:
        """Gather the shards."""

    def unique(self) -> Any:
        """Return the distinct values of one column."""

    def to_pandas(self) -> Any:
        """Gather all rows in one DataFrame."""
