# SPDX-License-Identifier: Apache-2.0
"""Preparation of users' data for replicas."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from xshards import _core
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.training.columns import (
    feature_columns,
    feature_types,
    label_columns,
    label_types,
)
from xshards.learn.training.shard_source import SAMPLE_WEIGHT, ShardSource
from xshards.learn.training.source import count_rows
from xshards.shards import XShards

if TYPE_CHECKING:
    from xshards.context import Context
    from xshards.learn.training.adapter import ModelAdapter, ModelInput
    from xshards.learn.training.source import Source

__all__ = ["Input", "has_column", "is_local", "make_input", "refuse_data", "to_shards"]


@dataclass
class Input:
    """Data for replicas, and what must live as long as they use it."""

    source: Source
    descriptors: list[int] = field(default_factory=list)
    keep: Any = None
    num_rows: int | None = None

    def num_batches(self, batch_size: int) -> int | None:
        """Count the batches of an epoch; None if that is not known."""
        own = self.source.num_batches
        if own is not None or self.num_rows is None:
            return own
        return -(-self.num_rows // batch_size)


def make_input(
    data: Any,
    *,
    adapter: ModelAdapter,
    model: Any,
    feature_cols: Any,
    label_cols: Any,
    sample_weight_col: str | None = None,
    config: dict[str, Any],
    context: Context,
) -> Input:
    """Make an input of whatever `fit` and `evaluate` take."""
    own = adapter.source_of(data, config)
    if own is not None:
        if sample_weight_col is not None:
            raise _no_columns(type(data).__name__)
        return Input(own, num_rows=own.num_rows)
    shards = to_shards(data, adapter, context)
    if shards is None:
        raise refuse_data(data, adapter)
    made = _input_of(
        shards,
        adapter.describe_input(model),
        feature_cols,
        label_cols,
        sample_weight_col,
    )
    if shards is not data and not isinstance(data, pd.DataFrame):
        made.num_rows = count_rows(data)
    return made


def has_column(data: Any, name: str) -> bool:
    """Return whether data is DataFrames with such a column."""
    frames = isinstance(data, pd.DataFrame)
    frames = frames or (isinstance(data, XShards) and data._holds_frames())
    return frames and name in data.columns


def is_local(data: Any) -> bool:
    """Return whether data is in this process's memory."""
    return isinstance(data, (pd.DataFrame, np.ndarray, dict, list, tuple))


def refuse_data(data: Any, adapter: ModelAdapter) -> XShardsTypeError:
    """Return the error for unsupported data."""
    kinds = ["XShards, a DataFrame, arrays"]
    if adapter.own_data:
        kinds.append(adapter.own_data)
    msg = f"data is {', '.join(kinds)}; got {type(data).__name__}"
    return XShardsTypeError(msg)


def to_shards(data: Any, adapter: ModelAdapter, context: Context) -> XShards | None:
    """Cut data that is in memory into shards; shards stay as they are."""
    from xshards.io.memory import from_pandas, partition

    if isinstance(data, XShards):
        return data
    if isinstance(data, pd.DataFrame):
        return from_pandas(data, num_partitions=context.cores, context=context)
    if is_local(data):
        if isinstance(data, (tuple, list)) and len(data) in (2, 3):
            data = dict(zip(("x", "y", SAMPLE_WEIGHT), data, strict=False))
        return partition(_arrays(data, adapter), context=context)
    return None


def _arrays(data: Any, adapter: ModelAdapter) -> Any:
    if isinstance(data, dict):
        return {name: _arrays(part, adapter) for name, part in data.items()}
    if isinstance(data, (tuple, list)):
        return type(data)(_arrays(part, adapter) for part in data)
    return adapter.to_numpy(data)


def _input_of(
    shards: XShards,
    model_input: ModelInput,
    feature_cols: Any,
    label_cols: Any,
    sample_weight_col: str | None,
) -> Input:
    weighted = sample_weight_col is not None
    if shards._holds_frames():
        features = feature_columns("feature_cols", feature_cols, model_input)
        labels = label_columns(label_cols)
        types = feature_types(shards, features, model_input)
        types += label_types(shards, labels, model_input)
        tensors = list(zip(features + labels, types, strict=True))
        if sample_weight_col is not None:
            shards._check_columns([sample_weight_col], shards._full_schema().names)
            tensors.append(([sample_weight_col], np.dtype("float64").str))
        structure = json.dumps(["tuple", [_tuple(len(features)), 0]])
        shards = shards[sorted({name for names, _ in tensors for name in names})]
    else:
        if weighted:
            raise _no_columns(shards._kind_name())
        tensors, structure = [], _array_structure(shards)
        weighted = _has_weights(json.loads(structure))
    lent = shards._run(lambda bar: _core.LentPartitions(shards._core, bar))
    segments = lent.segments
    source = ShardSource(
        content=lent.bytes.to_pybytes(),
        segments=[(kind, size) for kind, _, size in segments],
        tensors=tensors,
        structure=structure,
        float_type=model_input.float_type,
        weighted=weighted,
    )
    descriptors = [descriptor for _, descriptor, _ in segments]
    if lent.num_rows == 0:
        msg = "there are no rows to work on"
        raise XShardsValueError(msg)
    # Partitions of arrays do not say how many rows they have.
    return Input(
        source, descriptors, (lent, shards), lent.num_rows if tensors else None
    )


def _tuple(length: int) -> Any:
    return 0 if length == 1 else ["tuple", [0] * length]


def _array_structure(shards: XShards) -> str:
    """Describe how features and target are nested in shards of arrays."""
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
        case ["tuple" | "list", [_, _] | [_, _, 0]]:
            return str(text)
    msg = (
        "shards of arrays are dicts {'x': features, 'y': target}, with 'sample_weight' "
        "if rows have weights, or tuples (features, target) or (features, target, "
        f"weights); got {text}"
    )
    raise XShardsValueError(msg)


def _has_weights(structure: Any) -> bool:
    kind, parts, *keys = structure
    return SAMPLE_WEIGHT in keys[0] if kind == "dict" else len(parts) == 3


def _no_columns(what: str) -> XShardsValueError:
    msg = (
        "sample_weight_col names a column of DataFrames; weights of arrays are given "
        f"as {{'x': ..., 'y': ..., 'sample_weight': ...}}; got {what}"
    )
    return XShardsValueError(msg)
