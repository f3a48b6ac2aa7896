# SPDX-License-Identifier: Apache-2.0
"""Predictions, shard by shard, in the worker processes of the context."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.pytorch.loaders import make_loader
from xshards.learn.pytorch.parameters import pack, unpack
from xshards.learn.pytorch.training_operator import TrainingOperator
from xshards.learn.training.callback_runner import CallbackRunner
from xshards.learn.training.inputs import columns_of, float_type, is_local
from xshards.learn.training.replica_turn import Turn
from xshards.shards import XShards
from xshards.shared_value import SharedValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xshards.learn.pytorch.estimator import Estimator

__all__ = ["predict"]


class _Predictor:
    """A copy of the model, as it is now, that travels to workers once."""

    def __init__(
        self, estimator: Estimator, batch_size: int, callbacks: Sequence[Any]
    ) -> None:
        parts = estimator._job.parts
        content = (
            parts.operator_class,
            parts.models,
            parts.criterion,
            parts.config,
            list(callbacks),
        )
        code = [*estimator._job._code(), *(type(one) for one in callbacks)]
        packed = pack(content, {}, code)
        self._shared = SharedValue(np.frombuffer(packed, dtype=np.uint8))
        self._batch_size = batch_size
        self._floats = float_type(parts.models[0])

    def __call__(self, features: Any) -> Any:
        """Give the predictions for features: an array, or a list, tuple or dict."""
        outputs = [self.batch(batch) for batch in self._batches(features)]
        return _join(outputs)

    def batch(self, batch: Any) -> Any:
        with torch.no_grad():
            return _to_numpy(_function_of(self._shared)(batch))

    def _batches(self, features: Any) -> Iterator[tuple[Any, ...]]:
        rows = len(next(_leaves(features)))
        # Without rows the model says what a prediction would look like.
        for begin in range(0, max(rows, 1), self._batch_size):
            part = _map(features, lambda leaf, b=begin: self._tensor(leaf, b))
            yield tuple(part) if isinstance(part, (tuple, list)) else (part,)

    def _tensor(self, leaf: Any, begin: int) -> torch.Tensor:
        values = np.ascontiguousarray(leaf[begin : begin + self._batch_size])
        tensor = torch.from_numpy(values if values.flags.writeable else values.copy())
        if self._floats is not None and tensor.is_floating_point():
            return tensor.to(getattr(torch, self._floats))
        return tensor


_functions: dict[str, Any] = {}


def _function_of(shared: SharedValue) -> Any:
    """Unpack the model once a process; gives what predicts a batch."""
    name = shared._segment.name
    if name not in _functions:
        _functions.clear()
        cls, models, criterion, config, callbacks = unpack(shared.value.tobytes(), [])
        operator = cls(config, models, [], 0, criterion, [])
        operator.eval_mode()
        _functions[name] = operator.predict_batch
        if cls.predict is not TrainingOperator.predict:
            _functions[name] = lambda batch: operator.predict([batch])[0]
        if callbacks:
            turn = Turn(rank=0, num_replicas=1, seed=0, generation=0)
            runner = CallbackRunner(callbacks, operator, turn, 0, _no_checkpoint)
            _functions[name] = runner.predict_batch
    return _functions[name]


def _no_checkpoint(path: str, weights_only: bool) -> None:  # noqa: FBT001
    msg = "checkpoints are written while a model is trained, not while it predicts"
    raise XShardsValueError(msg)


def predict(
    estimator: Estimator,
    data: Any,
    batch_size: int,
    feature_cols: Any,
    output_cols: Any,
    callbacks: Sequence[Any],
) -> Any:
    """Predict; see `Estimator.predict`."""
    predictor = _Predictor(estimator, batch_size, callbacks)
    model = estimator._job.parts.models[0]
    if isinstance(data, XShards):
        if data._holds_frames():
            columns = columns_of("feature_cols", feature_cols, model)
            types = _feature_types(data, columns, model)
            return data.transform_shard(
                _predict_frame, predictor, columns, types, output_cols
            )
        return data.transform_shard(_predict_arrays, predictor)
    if isinstance(data, pd.DataFrame):
        columns = columns_of("feature_cols", feature_cols, model)
        types = _frame_types(data, columns, model)
        return _predict_frame(data.copy(), predictor, columns, types, output_cols)
    if isinstance(data, torch.Tensor):
        return predictor(data.numpy())
    if is_local(data):
        if isinstance(data, dict) and "x" in data:
            data = data["x"]
        return predictor(data)
    if isinstance(data, (DataLoader, Dataset)) or callable(data):
        loader = make_loader(
            data, estimator._job.parts.config, batch_size, shuffle=False
        )
        return _join([predictor.batch(_features(batch, model)) for batch in loader])
    msg = (
        "data is XShards, a DataFrame, arrays, a torch DataLoader or Dataset, or a "
        f"function that makes one; got {type(data).__name__}"
    )
    raise XShardsTypeError(msg)


def _features(batch: Any, model: torch.nn.Module) -> tuple[Any, ...]:
    """Leave the target of a batch out, if it has one."""
    import inspect

    if not isinstance(batch, (tuple, list)):
        return (batch,)
    parameters = list(inspect.signature(model.forward).parameters.values())
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return tuple(batch[:-1])
    return tuple(batch[: len(parameters)])


def _predict_arrays(shard: Any, predictor: _Predictor) -> Any:
    if isinstance(shard, dict):
        if "x" not in shard:
            msg = f"shards to predict are dicts with 'x', got the keys {list(shard)}"
            raise XShardsValueError(msg)
        return {**shard, "prediction": predictor(shard["x"])}
    return {"x": shard, "prediction": predictor(shard)}


def _predict_frame(
    frame: pd.DataFrame,
    predictor: _Predictor,
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


def _feature_types(
    shards: XShards, columns: list[list[str]], model: torch.nn.Module
) -> list[str | None]:
    from xshards.learn.training.inputs import _column_type

    schema = shards._full_schema()
    floats = float_type(model)
    return [_column_type(shards, schema, names, model, floats) for names in columns]


def _frame_types(
    frame: pd.DataFrame, columns: list[list[str]], model: torch.nn.Module
) -> list[str | None]:
    from xshards.io.memory import from_pandas

    return _feature_types(from_pandas(frame.head(100)), columns, model)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        yield value
        return
    yield from itertools.chain.from_iterable(_leaves(part) for part in value)


def _map(value: Any, function: Any) -> Any:
    if isinstance(value, dict):
        return {name: _map(part, function) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_map(part, function) for part in value)
    return function(value)


def _to_numpy(output: Any) -> Any:
    if isinstance(output, torch.Tensor):
        return output.detach().numpy()
    if isinstance(output, dict):
        return {name: _to_numpy(part) for name, part in output.items()}
    if isinstance(output, (list, tuple)):
        return [_to_numpy(part) for part in output]
    return np.asarray(output)


def _join(outputs: list[Any]) -> Any:
    first = outputs[0]
    if isinstance(first, dict):
        return {name: _join([output[name] for output in outputs]) for name in first}
    if isinstance(first, list):
        return [_join(list(same)) for same in zip(*outputs, strict=True)]
    return np.concatenate(outputs)
