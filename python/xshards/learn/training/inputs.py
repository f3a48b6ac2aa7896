# SPDX-License-Identifier: Apache-2.0
"""What users give as data, made ready for replicas."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset

from xshards import _core
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.pytorch.loaders import LoaderSource
from xshards.learn.training.shard_source import ShardSource
from xshards.runtime.shipping import by_value
from xshards.shards import XShards

if TYPE_CHECKING:
    from xshards.context import Context

__all__ = ["Columns", "Input", "columns_of", "is_local", "make_input", "to_shards"]

#: A column, or several that make one tensor.
Columns = "Sequence[str | Sequence[str]] | str | None"


@dataclass
class Input:
    """Data for replicas, and what must live as long as they use it."""

    source: ShardSource | LoaderSource
    descriptors: list[int] = field(default_factory=list)
    keep: Any = None
    num_rows: int | None = None


def make_input(
    data: Any,
    *,
    model: torch.nn.Module,
    feature_cols: Any,
    label_cols: Any,
    config: dict[str, Any],
    context: Context,
) -> Input:
    """Make an input of whatever `fit` and `evaluate` take."""
    if isinstance(data, (DataLoader, Dataset)) or (
        callable(data) and not isinstance(data, XShards)
    ):
        code = [data, getattr(data, "dataset", None), getattr(data, "collate_fn", None)]
        code += [type(one) for one in code]
        with by_value(code):
            return Input(LoaderSource(cloudpickle.dumps(data), config))
    shards = to_shards(data, context)
    if shards is None:
        msg = (
            "data is XShards, a DataFrame, arrays, a torch DataLoader or Dataset, or a "
            f"function that makes one; got {type(data).__name__}"
        )
        raise XShardsTypeError(msg)
    return _input_of(shards, model, feature_cols, label_cols)


def is_local(data: Any) -> bool:
    """Tell data that is in this process's memory."""
    return isinstance(data, (pd.DataFrame, np.ndarray, dict, list, tuple))


def to_shards(data: Any, context: Context) -> XShards | None:
    """Cut data that is in memory into shards; shards stay as they are."""
    from xshards.io.memory import from_pandas, partition

    if isinstance(data, XShards):
        return data
    if isinstance(data, pd.DataFrame):
        return from_pandas(data, num_partitions=context.cores, context=context)
    if is_local(data):
        if isinstance(data, (tuple, list)) and len(data) == 2:
            data = {"x": data[0], "y": data[1]}
        return partition(_arrays(data), context=context)
    return None


def _arrays(data: Any) -> Any:
    if isinstance(data, torch.Tensor):
        return data.numpy()
    if isinstance(data, dict):
        return {name: _arrays(part) for name, part in data.items()}
    if isinstance(data, (tuple, list)):
        return type(data)(_arrays(part) for part in data)
    return data


def _input_of(
    shards: XShards, model: torch.nn.Module, feature_cols: Any, label_cols: Any
) -> Input:
    floats = float_type(model)
    if shards._holds_frames():
        features = columns_of("feature_cols", feature_cols, model)
        labels = _label_columns(label_cols)
        schema = shards._full_schema()
        tensors = [
            (names, _column_type(shards, schema, names, model, floats))
            for names in features
        ]
        tensors += [(names, _label_type(schema, names, floats)) for names in labels]
        structure = json.dumps(["tuple", [_tuple(len(features)), 0]])
        shards = shards[sorted({name for names, _ in tensors for name in names})]
    else:
        tensors, structure = [], _array_structure(shards)
    lent = shards._run(lambda bar: _core.LentPartitions(shards._core, bar))
    segments = lent.segments
    source = ShardSource(
        content=lent.bytes.to_pybytes(),
        segments=[(kind, size) for kind, _, size in segments],
        tensors=tensors,
        structure=structure,
        float_type=floats,
    )
    descriptors = [descriptor for _, descriptor, _ in segments]
    if lent.num_rows == 0:
        msg = "there are no rows to work on"
        raise XShardsValueError(msg)
    return Input(source, descriptors, (lent, shards), lent.num_rows)


def _tuple(length: int) -> Any:
    return 0 if length == 1 else ["tuple", [0] * length]


def float_type(model: torch.nn.Module) -> str | None:
    """Name the one float type of a model's parameters, if there is one."""
    found = {one.dtype for one in model.parameters() if one.is_floating_point()}
    return str(found.pop()).removeprefix("torch.") if len(found) == 1 else None


def columns_of(what: str, columns: Any, model: torch.nn.Module) -> list[list[str]]:
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
    if len(columns) > 1 and _takes_several(model):
        return [[one] for one in columns]
    return [columns]


def _takes_several(model: torch.nn.Module) -> bool:
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        and one.default is one.empty
    ]
    return len(needed) > 1 or any(one.kind is one.VAR_POSITIONAL for one in parameters)


def _label_columns(columns: Any) -> list[list[str]]:
    if columns is None:
        msg = "shards of DataFrames need label_cols: the names of the target columns"
        raise XShardsValueError(msg)
    return [[columns]] if isinstance(columns, str) else [list(columns)]


def _column_type(
    shards: XShards, schema: Any, names: list[str], model: torch.nn.Module, floats: Any
) -> str | None:
    shards._check_columns(names, schema.names)
    if not all(_is_scalar(schema.field(name).type) for name in names):
        return None
    whole = all(_is_whole(schema.field(name).type) for name in names)
    if whole and any(
        isinstance(part, (torch.nn.Embedding, torch.nn.EmbeddingBag))
        for part in model.modules()
    ):
        return np.dtype("int64").str
    return np.dtype(floats or "float32").str


def _label_type(schema: Any, names: list[str], floats: Any) -> str | None:
    types = [schema.field(name).type for name in names if name in schema.names]
    if len(types) < len(names) or not all(map(_is_scalar, types)):
        return None  # the feeder says which column is missing
    return np.dtype("int64" if all(map(_is_whole, types)) else floats or "float32").str


def _is_whole(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind))


def _is_scalar(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    )


def _array_structure(shards: XShards) -> str:
    """Say how features and target are nested in shards of arrays."""
    if shards._kinds() != {"Tensors"}:
        msg = (
            f"these shards hold {shards._kind_name()}; training needs DataFrames with "
            "feature_cols and label_cols, or arrays as {'x': ..., 'y': ...}"
        )
        raise XShardsTypeError(msg)
    held = shards._run(lambda bar: shards._core.collect_first(1, bar))
    _, text = next(payload for payloads in held for payload in payloads).tensors()
    structure = json.loads(text)
    match structure:
        case ["dict", _, keys] if {"x", "y"} <= set(keys):
            return str(text)
        case ["tuple" | "list", [_, _]]:
            return str(text)
    msg = (
        "shards of arrays are dicts {'x': features, 'y': target}, or "
        f"pairs (features, target); got {text}"
    )
    raise XShardsValueError(msg)
