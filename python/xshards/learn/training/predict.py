# SPDX-License-Identifier: Apache-2.0
"""Predictions, shard by shard, in the worker processes of the context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from xshards.errors import XShardsValueError
from xshards.learn.training.columns import feature_columns, feature_types
from xshards.learn.training.inputs import is_local, refuse_data
from xshards.learn.training.predictor import Predictor, join_outputs
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.training.job import Job

__all__ = ["predict"]


def predict(
    job: Job,
    data: Any,
    batch_size: int,
    feature_cols: Any,
    output_cols: Any,
    callbacks: Sequence[Any],
) -> Any:
    """Predict; see `EstimatorBase.predict`."""
    adapter, model = job.adapter, job.parts.models[0]
    predictor = Predictor(job, batch_size, callbacks)
    if isinstance(data, XShards) and not data._holds_frames():
        return data.transform_shard(_predict_arrays, predictor)
    if isinstance(data, (XShards, pd.DataFrame)):
        model_input = adapter.describe_input(model)
        columns = feature_columns("feature_cols", feature_cols, model_input)
        types = feature_types(_sample(data), columns, model_input)
        given = (predictor, columns, types, output_cols)
        if isinstance(data, XShards):
            return data.transform_shard(_predict_frame, *given)
        return _predict_frame(data.copy(), *given)
    data = adapter.to_numpy(data)
    if is_local(data):
        if isinstance(data, dict) and "x" in data:
            data = data["x"]
        return predictor(data)
    batches = adapter.feature_batches(data, model, job.parts.config, batch_size)
    if batches is None:
        raise refuse_data(data, adapter)
    return join_outputs([predictor.batch(batch) for batch in batches])


def _predict_arrays(shard: Any, predictor: Predictor) -> Any:
    if isinstance(shard, dict):
        if "x" not in shard:
            msg = f"shards to predict are dicts with 'x', got the keys {list(shard)}"
            raise XShardsValueError(msg)
        return {**shard, "prediction": predictor(shard["x"])}
    return {"x": shard, "prediction": predictor(shard)}


def _predict_frame(
    frame: pd.DataFrame,
    predictor: Predictor,
    columns: list[list[str]],
    types: list[str | None],
    output_cols: Any,
) -> pd.DataFrame:
    features = [
        _stack(frame, names, kind) for names, kind in zip(columns, types, strict=True)
    ]
    predicted = predictor(features[0] if len(features) == 1 else features)
    outputs = predicted if isinstance(predicted, (list, tuple)) else [predicted]
    if output_cols is None:
        several = len(outputs) > 1
        names = [
            f"prediction_{n}" if several else "prediction" for n in range(len(outputs))
        ]
    else:
        names = [output_cols] if isinstance(output_cols, str) else list(output_cols)
        if len(names) != len(outputs):
            msg = (
                f"the model has {len(outputs)} outputs, output_cols {len(names)} names"
            )
            raise XShardsValueError(msg)
    for name, output in zip(names, outputs, strict=True):
        frame[name] = _cells(output)
    return frame


def _cells(output: np.ndarray[Any, Any]) -> Any:
    if output.ndim == 2 and output.shape[1] == 1:
        output = output[:, 0]
    return output if output.ndim == 1 else pd.Series(list(output), dtype=object).array


def _stack(frame: pd.DataFrame, names: list[str], kind: str | None) -> Any:
    if kind is None:
        cells = [np.stack(list(frame[name])) for name in names]
        return cells[0] if len(cells) == 1 else np.stack(cells, axis=1)
    values = [frame[name].to_numpy(dtype=kind) for name in names]
    return (
        values[0] if len(values) == 1 and len(names) == 1 else np.stack(values, axis=1)
    )


def _sample(data: XShards | pd.DataFrame) -> XShards:
    """Return shards with the column types of the data."""
    from xshards.io.memory import from_pandas

    return data if isinstance(data, XShards) else from_pandas(data.head(100))
