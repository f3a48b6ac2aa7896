# SPDX-License-Identifier: Apache-2.0
"""Schemas that a caller asks for: by Arrow's types or by pandas' dtypes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError
from xshards.interop.dtypes import column_to_arrow
from xshards.interop.engine_types import engine_type
from xshards.interop.field_metadata import marked

__all__ = ["Schema", "as_schema"]

Schema: TypeAlias = "pa.Schema | Mapping[str, Any]"


def as_schema(schema: Schema | None) -> pa.Schema | None:
    """Return the schema for the engine's readers, with notes of pandas' dtypes."""
    if schema is None:
        return None
    if isinstance(schema, pa.Schema):
        return pa.schema([pa.field(f.name, engine_type(f.type)) for f in schema])
    given: object = schema
    if not isinstance(given, Mapping):
        msg = (
            "schema must be a pyarrow schema or a dict of names and types, "
            f"got {type(given).__name__}"
        )
        raise XShardsTypeError(msg)
    return pa.schema([_field(str(name), dtype) for name, dtype in given.items()])


def _field(name: str, dtype: object) -> pa.Field:
    if isinstance(dtype, pa.DataType):
        return pa.field(name, engine_type(dtype))
    try:
        wanted = pd.api.types.pandas_dtype(dtype)
    except TypeError as error:
        msg = f"schema of column {name!r}: {error}"
        raise XShardsTypeError(msg) from None
    if isinstance(wanted, pd.CategoricalDtype):
        msg = f"schema of column {name!r}: categories are not read, ask for 'str'"
        raise XShardsTypeError(msg)
    if isinstance(wanted, np.dtype) and wanted.kind in "OUS":
        return pa.field(name, pa.large_string())
    array, marks = column_to_arrow(name, pd.Series([], dtype=wanted))
    return marked(name, array.type, marks)
