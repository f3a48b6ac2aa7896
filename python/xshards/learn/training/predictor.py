# SPDX-License-Identifier: Apache-2.0
"""A copy of a model that predicts in worker processes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsValueError
from xshards.learn.training.callback_runner import CallbackRunner
from xshards.learn.training.operator import Operator
from xshards.learn.training.packing import pack, unpack
from xshards.learn.training.replica_turn import Turn
from xshards.shared_value import SharedValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xshards.learn.training.job import Job

__all__ = ["Predictor", "join_outputs"]


class Predictor:
    """A copy of the model's current state, sent to workers once."""

    def __init__(self, job: Job, batch_size: int, callbacks: Sequence[Any]) -> None:
        parts = job.parts
        content = (
            job.adapter,
            parts.operator_class,
            parts.models,
            parts.criterion,
            parts.config,
            parts.precision,
            list(callbacks),
        )
        code = [*job.code(), *(type(one) for one in callbacks)]
        packed = pack(content, {}, code)
        self._shared = SharedValue(np.frombuffer(packed, dtype=np.uint8))
        self._batch_size = batch_size
        self._floats = job.adapter.describe_input(parts.models[0]).float_type

    def __call__(self, features: Any) -> Any:
        """Return the predictions for features: an array, or a list, tuple or dict."""
        model = _loaded(self._shared)
        outputs = [model.predict(batch) for batch in self._batches(model, features)]
        return join_outputs(outputs)

    def batch(self, batch: tuple[Any, ...]) -> Any:
        """Return the predictions for the tensors of one batch."""
        return _loaded(self._shared).predict(batch)

    def _batches(self, model: _Loaded, features: Any) -> Iterator[tuple[Any, ...]]:
        rows = len(next(_leaves(features)))
        size, make = self._batch_size, model.adapter.to_tensor

        def tensor(leaf: Any, begin: int) -> Any:
            values = np.ascontiguousarray(leaf[begin : begin + size])
            return make(values, self._floats)

        # Without rows, run the model for the shape of a prediction.
        for begin in range(0, max(rows, 1), size):
            part = _map(features, lambda leaf, b=begin: tensor(leaf, b))
            yield tuple(part) if isinstance(part, (tuple, list)) else (part,)


class _Loaded:
    """The model in one process."""

    def __init__(self, content: bytes) -> None:
        self.adapter, cls, models, criterion, config, *rest = unpack(content)
        precision, callbacks = rest
        operator = cls(config, models, [], 0, criterion, [])
        operator._precision = precision
        operator.eval_mode()
        self._function: Any = operator.predict_batch
        if cls.predict is not Operator.predict:
            self._function = lambda batch: operator.predict([batch])[0]
        if callbacks:
            turn = Turn(self.adapter, rank=0, num_replicas=1, seed=0, generation=0)
            runner = CallbackRunner(callbacks, operator, turn, 0, _no_checkpoint)
            self._function = runner.predict_batch

    def predict(self, batch: tuple[Any, ...]) -> Any:
        with self.adapter.inference_mode():
            return self._to_numpy(self._function(batch))

    def _to_numpy(self, output: Any) -> Any:
        if isinstance(output, dict):
            return {name: self._to_numpy(part) for name, part in output.items()}
        if isinstance(output, (list, tuple)):
            return [self._to_numpy(part) for part in output]
        return np.asarray(self.adapter.to_numpy(output))


_loaded_models: dict[str, _Loaded] = {}


def _loaded(shared: SharedValue) -> _Loaded:
    """Unpack the model once a process."""
    name = shared._segment.name
    if name not in _loaded_models:
        _loaded_models.clear()
        _loaded_models[name] = _Loaded(shared.value.tobytes())
    return _loaded_models[name]


def _no_checkpoint(path: str, weights_only: bool) -> None:  # noqa: FBT001
    msg = "checkpoints are written while a model is trained, not while it predicts"
    raise XShardsValueError(msg)


def join_outputs(outputs: list[Any]) -> Any:
    """Concatenate the predictions of batches, which may be nested."""
    first = outputs[0]
    if isinstance(first, dict):
        return {
            name: join_outputs([output[name] for output in outputs]) for name in first
        }
    if isinstance(first, list):
        return [join_outputs(list(same)) for same in zip(*outputs, strict=True)]
    return np.concatenate(outputs)


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
