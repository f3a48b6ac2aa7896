# SPDX-License-Identifier: Apache-2.0
"""The dtypes and columns that a caller asks readers of text for.

The engine reads numbers, booleans and text; what pandas calls these then is noted
on the columns. A dtype that needs more is left to pandas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.errors import XShardsValueError
from xshards.expressions import col
from xshards.interop.dtypes import column_to_arrow
from xshards.interop.field_metadata import DTYPE, MISSING
from xshards.interop.labels import index_mark, label_of
from xshards.io.pandas_metadata import PandasNotes, with_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.shards import XShards

__all__ = [
    "Wanted",
    "by_name",
    "chosen_columns",
    "engine_types",
    "with_dtypes",
    "with_index",
]


@dataclass(frozen=True)
class Wanted:
    """The type a column is read as, and the dtype that is noted then, if one is.

    An empty type is the one that the values have.
    """

    read: str
    dtype: Any = None


def engine_types(types: Mapping[str, Any]) -> dict[str, Wanted] | None:
    """Return what the engine reads for dtypes by column; None if only pandas can."""
    found = {name: _wanted(dtype) for name, dtype in types.items()}
    if any(one is None for one in found.values()):
        return None
    return {name: one for name, one in found.items() if one is not None}


def _wanted(dtype: Any) -> Wanted | None:
    if isinstance(dtype, pa.DataType):
        return Wanted(str(dtype))
    try:
        target = pd.api.types.pandas_dtype(dtype)
    except TypeError:
        return Wanted(str(dtype))  # an Arrow type name; the engine reports errors
    match target:
        case pd.CategoricalDtype():
            known: Any = target.categories
            if known is None:
                return Wanted("", target)
            return Wanted("string", target) if known.dtype.kind == "O" else None
        case pd.StringDtype() if target.storage != "python":
            return Wanted("string", None if str(target) == "str" else target)
        case pd.ArrowDtype():
            return Wanted(str(target.pyarrow_dtype), target)
        case np.dtype(kind="O"):
            return Wanted("string", target)
        case np.dtype(kind="U" | "S"):
            return Wanted("string")
        case np.dtype(kind="f", itemsize=2):
            return None
        case np.dtype(kind="b" | "i" | "u" | "f" | "m" | "M"):
            return Wanted(str(target))
    if hasattr(target, "numpy_dtype") and target.numpy_dtype.kind != "b":
        return Wanted(str(target.numpy_dtype), target)
    return None


def by_name(dtype: Any, columns: Callable[[], Sequence[str]]) -> dict[str, Any]:
    """Return dtypes by column; `columns` returns the names if they must be known."""
    if dtype is None:
        return {}
    if not isinstance(dtype, Mapping):
        return dict.fromkeys(columns(), dtype)
    if hasattr(dtype, "default_factory"):
        return {name: dtype[name] for name in columns()}
    if all(isinstance(name, str) for name in dtype):
        return dict(dtype)
    there = columns()
    found = {}
    for name, one in dtype.items():
        is_position = isinstance(name, int) and str(name) not in there
        if is_position and not 0 <= name < len(there):
            msg = f"dtype names column {name}, but the files have {len(there)} columns"
            raise XShardsValueError(msg)
        found[there[name] if is_position else str(name)] = one
    return found


def chosen_columns(
    usecols: Any, labels: Sequence[Any], names: Sequence[str]
) -> list[str]:
    """Return the names of columns that are chosen by position or by a function."""
    if callable(usecols):
        pairs = zip(labels, names, strict=True)
        return [name for label, name in pairs if usecols(label)]
    wanted = list(usecols)
    if all(isinstance(one, str) for one in wanted):
        return wanted
    if not all(isinstance(one, int | np.integer) for one in wanted):
        msg = (
            "usecols must be all names, all positions, or a function of the name, got "
            f"{usecols!r}"
        )
        raise XShardsValueError(msg)
    beyond = [one for one in wanted if not 0 <= one < len(names)]
    if beyond:
        msg = f"usecols has position {beyond[0]}, but there are {len(names)} columns"
        raise XShardsValueError(msg)
    return [names[one] for one in wanted]


def with_dtypes(shards: XShards, wanted: Mapping[str, Wanted]) -> XShards:
    """Note the dtypes of columns that were read as what they hold."""
    for name, one in wanted.items():
        if one.dtype is None or name not in shards._full_schema().names:
            continue
        value = col(name)
        dtype: Any = one.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            known: Any = dtype.categories
            if known is None:
                dtype = pd.CategoricalDtype(_categories(shards, name), dtype.ordered)
            else:
                value = value.where(value.isin(list(known)))
        arrow = shards._full_schema().field(name).type
        if isinstance(dtype, pd.CategoricalDtype) and pa.types.is_large_string(arrow):
            arrow = pa.dictionary(pa.int32(), arrow, bool(dtype.ordered))
        _, marks = column_to_arrow(name, pd.Series([], dtype=dtype))
        if dtype == np.dtype(object):
            marks = {DTYPE: "object", MISSING: "nan"}
        shards = shards.with_column(name, value._noted(arrow, marks))
    return shards


def with_index(shards: XShards, index_col: Any, *, header: Any) -> XShards:
    """Make columns, given by name or position, the index."""
    schema = shards._full_schema()
    listed = list(index_col) if isinstance(index_col, list | tuple) else [index_col]
    for one in listed:
        if (one not in schema.names) if isinstance(one, str) else one >= len(schema):
            msg = f"index_col {one!r} is no column; the columns are {schema.names}"
            raise XShardsValueError(msg)
    names = [one if isinstance(one, str) else schema.names[one] for one in listed]
    marks = {}
    for number, name in enumerate(names):
        label = label_of(schema.field(name))
        # pandas generates this name if the header has none.
        made_up = header is not None and str(label).startswith("Unnamed: ")
        marks[name] = index_mark(number, None if made_up else label)
    return with_notes(shards, PandasNotes(names, marks), numbered=False)


def _categories(shards: XShards, name: str) -> Any:
    """Read a column for the categories that its values are, in their own type."""
    found = shards.select([name])._without_index().drop_duplicates().to_arrow()[name]
    return pd.Categorical(found.drop_null().to_pandas()).categories
