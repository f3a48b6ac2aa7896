# SPDX-License-Identifier: Apache-2.0
"""What users give as data, made ready for replicas."""

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
from xshards.learn.training.shard_source import ShardSource
from xshards.shards import XShards

if TYPE_CHECKING:
    from xshards.context import Context
    from xshards.learn.training.adapter import ModelAdapter, ModelInput
    from xshards.learn.training.source import Source

__all__ = ["Input", "is_local", "make_input", "refuse_data", "to_shards"]


@dataclass
class Input:
    """Data for replicas, and what must live as long as they use it."""

    source: Source
    descriptors: list[int] = field(default_factory=list)
    keep: Any = None
    num_rows: int | None = None


def make_input(
    data: Any,
    *,
    adapter: ModelAdapter,
    model: Any,
    feature_cols: Any,
    label_cols: Any,
    config: dict[str, Any],
    context: Context,
) -> Input:
    """Make an input of whatever `fit` and `evaluate` take."""
    own = adapter.source_of(data, config)
    if own is not None:
        return Input(own)
    shards = to_shards(data, adapter, context)
    if shards is None:
        raise refuse_data(data, adapter)
    return _input_of(shards, adapter.describe_input(model), feature_cols, label_cols)


def is_local(data: Any) -> bool:
    """Tell data that is in this process's memory."""
    return isinstance(data, (pd.DataFrame, np.ndarray, dict, list, tuple))


def refuse_data(data: Any, adapter: ModelAdapter) -> XShardsTypeError:
    """Say what data can be."""
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
        if isinstance(data, (tuple, list)) and len(data) == 2:
            data = {"x": data[0], "y": data[1]}
        return partition(_arrays(data, adapter), context=context)
    return None


def _arrays(data: Any, adapter: ModelAdapter) -> Any:
    if isinstance(data, dict):
        return {name: _arrays(part, adapter) for name, part in data.items()}
    if isinstance(data, (tuple, list)):
        return type(data)(_arrays(part, adapter) for part in data)
    return adapter.to_numpy(data)


def _input_of(
    shards: XShards, model_input: ModelInput, feature_cols: Any, label_cols: Any
) -> Input:
    if shards._holds_frames():
        features = feature_columns("feature_cols", feature_cols, model_input)
        labels = label_columns(label_cols)
        types = feature_types(shards, features, model_input)
        types += label_types(shards, labels, model_input)
        tensors = list(zip(features + labels, types, strict=True))
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
        float_type=model_input.float_type,
    )
    descriptors = [descriptor for _, descriptor, _ in segments]
    if lent.num_rows == 0:
        msg = "there are no rows to work on"
        raise XShardsValueError(msg)
    return Input(source, descriptors, (lent, shards), lent.num_rows)


def _tuple(length: int) -> Any:
    return 0 if length == 1 else ["tuple", [0] * length]


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
