# SPDX-License-Identifier: Apache-2.0
"""Several reductions of columns in one pass, in the shapes that pandas returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xshards._util.arguments import require
from xshards._util.deferred import pd
from xshards.compute.reduce import Column, Reduction, as_scalar, dtype_in_table, find
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.interop.aggregate_functions import REDUCTIONS
from xshards.shards.base import Base

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Aggregation"]

_FUNCTIONS = (*REDUCTIONS, "any", "all")


class Aggregation(Base):
    """Reduce columns by one function or several."""

    def agg(self, func: str | Sequence[str] | Mapping[Any, str | Sequence[str]]) -> Any:
        """Reduce columns by one function or several, in one pass.

        Parameters
        ----------
        func : str, list of str, or dict
            Names of functions: sum, prod, mean, min, max, std, var, median, skew, kurt,
            count, nunique, any and all. A dict has the functions by column.

        Returns
        -------
        scalar, Series or DataFrame
            As in pandas; for lists, with one row per function.

        Raises
        ------
        KeyError
            If there is no such column.
        TypeError
            If a function is not defined for a column's type.
        ValueError
            If there is no function of that name.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1, 2, 4], "s": ["x", "y", None]})
        >>> shards = xs.from_pandas(df)
        >>> shards.agg(["min", "count"])
               a  s
        min    1  x
        count  3  2
        >>> shards["a"].agg(["sum", "mean"]).to_dict()
        {'sum': 7.0, 'mean': 2.3333333333333335}
        >>> shards.agg({"a": "max", "s": "nunique"}).to_dict()
        {'a': 4, 's': 2}
        """
        if isinstance(func, str):
            return self._reduced(_known(func), {})
        columns = self._visible_columns()
        if not isinstance(func, Mapping):
            return self._aggregated([(column, func) for column in columns])
        if self._is_series():
            msg = "agg of one column takes a name or a list of names, got a dict"
            raise XShardsTypeError(msg)
        named = {column.name: column for column in columns}
        names = self._keys_named("agg", list(func))
        self._check_columns(names, named)
        chosen = list(zip([named[n] for n in names], func.values(), strict=True))
        return self._aggregated(chosen, by_column=True)

    aggregate = agg

    def _aggregated(
        self, chosen: Sequence[tuple[Column, Any]], *, by_column: bool = False
    ) -> Any:
        """Reduce columns, each column by its own functions."""
        asked = [(column, functions) for column, functions in chosen if functions]
        if not asked:
            return self._aggregated_by_nothing(chosen, by_column=by_column)
        chosen = asked
        wanted = [
            [Reduction(column, _known(function), {}) for function in _listed(functions)]
            for column, functions in chosen
        ]
        every = iter(find(self, [one for group in wanted for one in group]))
        labels = self.dtypes.index
        if by_column:
            labels = pd.Index([one.label for one, _ in chosen], tupleize_cols=False)
        results = []
        for group in wanted:
            found = [next(every) for _ in group]
            # For a dict pandas combines values by column, else the rows of a DataFrame.
            apart = by_column or self._is_series()
            dtype = None if apart else dtype_in_table(group, found)
            cells = [as_scalar(*pair) for pair in zip(group, found, strict=True)]
            names = [one.function for one in group]
            results.append(pd.Series(cells, names, dtype, group[0].column.label))
        if all(isinstance(functions, str) for _, functions in chosen):
            return pd.Series([result.iloc[0] for result in results], labels)
        if self._is_series():
            return results[0]
        table = pd.concat(results, axis=1)
        table.columns = labels
        return table

    def _aggregated_by_nothing(
        self, chosen: Sequence[tuple[Column, Any]], *, by_column: bool
    ) -> Any:
        """Return pandas' result for no function, or for no column."""
        blank = {
            n: pd.Series(dtype=column.dtype) for n, (column, _) in enumerate(chosen)
        }
        if self._is_series():
            return blank[0].rename(self.dtypes.index[0]).agg([])
        empty: Any = pd.DataFrame(blank).agg([])
        labels = [column.label for column, _ in chosen]
        empty.columns = (
            pd.Index(labels, tupleize_cols=False) if by_column else self.dtypes.index
        )
        return empty


def _listed(functions: str | Sequence[str]) -> Sequence[str]:
    return [functions] if isinstance(functions, str) else functions


def _known(function: object) -> str:
    """Check the name of an aggregate function."""
    require(
        function,
        str,
        "agg takes function names, such as 'sum'; transform_shard runs others",
    )
    if function not in _FUNCTIONS:
        msg = f"agg supports {', '.join(_FUNCTIONS)}; got {function!r}"
        raise XShardsValueError(msg)
    return str(function)
