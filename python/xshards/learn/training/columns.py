# SPDX-License-Identifier: Apache-2.0
"""Which columns of DataFrames make which tensors, and of which type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards.errors import XShardsValueError

if TYPE_CHECKING:
    from xshards.learn.training.adapter import ModelInput
    from xshards.shards import XShards

__all__ = ["feature_columns", "feature_types", "label_columns", "label_types"]


def feature_columns(
    what: str, columns: Any, model_input: ModelInput
) -> list[list[str]]:
    """Decide which columns make which tensor.

    A nested list says so itself. Of a flat one the model does: one that takes one
    argument gets the columns side by side, one that takes more gets a tensor of each.
    """
    if columns is None:
        msg = f"shards of DataFrames need {what}: the names of the columns to use"
        raise XShardsValueError(msg)
    if isinstance(columns, str):
        return [[columns]]
    columns = list(columns)
    if not columns:
        msg = f"{what} must name at least one column, got none"
        raise XShardsValueError(msg)
    if any(not isinstance(one, str) for one in columns):
        return [[one] if isinstance(one, str) else list(one) for one in columns]
    if len(columns) > 1 and model_input.several:
        return [[one] for one in columns]
    return [columns]


def feature_types(
    shards: XShards, columns: list[list[str]], model_input: ModelInput
) -> list[str | None]:
    """Return the dtype of each tensor; None for columns of arrays."""
    schema = shards._full_schema()
    return [_feature_type(shards, schema, names, model_input) for names in columns]


def label_columns(columns: Any) -> list[list[str]]:
    """Return the columns of each target: one."""
    if columns is None:
        msg = "shards of DataFrames need label_cols: the names of the target columns"
        raise XShardsValueError(msg)
    return [[columns]] if isinstance(columns, str) else [list(columns)]


def label_types(
    shards: XShards, columns: list[list[str]], model_input: ModelInput
) -> list[str | None]:
    """Return the dtype of each target; None for columns of arrays."""
    schema = shards._full_schema()
    floats = _numpy_floats(model_input)
    return [_label_type(schema, names, floats) for names in columns]


def _feature_type(
    shards: XShards, schema: Any, names: list[str], model_input: ModelInput
) -> str | None:
    shards._check_columns(names, schema.names)
    types = [schema.field(name).type for name in names]
    if not all(map(_is_scalar, types)):
        return None
    if model_input.integers and all(map(pa.types.is_integer, types)):
        return np.dtype("int64").str
    return np.dtype(_numpy_floats(model_input)).str


def _numpy_floats(model_input: ModelInput) -> str:
    """Return what numpy has for the model's floats; the adapter narrows them."""
    kind = model_input.float_type or "float32"
    return kind if kind in ("float16", "float32", "float64") else "float32"


def _label_type(schema: Any, names: list[str], floats: str) -> str | None:
    types = [schema.field(name).type for name in names if name in schema.names]
    if len(types) < len(names) or not all(map(_is_scalar, types)):
        return None  # the feeder reports the missing column
    return np.dtype("int64" if all(map(pa.types.is_integer, types)) else floats).str


def _is_scalar(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    )
