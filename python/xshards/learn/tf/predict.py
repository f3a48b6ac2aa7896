# SPDX-License-Identifier: Apache-2.0
"""Predictions for arrays and datasets, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.tf.batches import rows_of
from xshards.learn.tf.datasets import reader_of
from xshards.learn.tf.model import check_shapes
from xshards.learn.tf.packages import load_tensorflow
from xshards.learn.tf.step_functions import PredictFunction
from xshards.learn.training.predictor import join_outputs

if TYPE_CHECKING:
    from xshards.learn.tf.model import KerasModel

__all__ = ["predict_here"]


def predict_here(
    model: KerasModel,
    data: Any,
    batch_size: int,
    steps: int | None,
    config: dict[str, Any],
) -> Any:
    """Apply a model to arrays or a dataset."""
    if batch_size is None or batch_size < 1:
        msg = f"batch_size must be at least 1, got {batch_size}"
        raise XShardsValueError(msg)
    reader = reader_of(data, config, batch_size, model.num_dimensions())
    run = PredictFunction(model)
    if reader is not None:
        reader.check(steps)
        check_shapes(model.keras, reader.first()[0])
        reader.restart()
        return join_outputs([_plain(run(x)) for x, _, _ in reader.epoch(steps)])
    features = data
    if isinstance(features, dict) and "x" in features:
        features = features["x"]
    nest = load_tensorflow().nest
    try:
        features = nest.map_structure(_array, features)
    except TypeError as error:
        msg = (
            "data to predict is XShards, a DataFrame, arrays, a tf.data.Dataset or a "
            f"Keras PyDataset; got {type(data).__name__}"
        )
        raise XShardsTypeError(msg) from error
    check_shapes(model.keras, features)
    rows = rows_of(features)
    outputs = []
    # Without rows the model says what a prediction would look like.
    for begin in range(0, max(rows, 1), batch_size):
        part = nest.map_structure(
            lambda one, b=begin: one[b : b + batch_size], features
        )
        outputs.append(_plain(run(part)))
    return join_outputs(outputs)


def _array(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "fiubSU" or array.ndim == 0:
        raise TypeError
    return array.astype("float32") if array.dtype == np.float64 else array


def _plain(output: Any) -> Any:
    if isinstance(output, dict):
        return {name: _plain(part) for name, part in output.items()}
    if isinstance(output, (list, tuple)):
        return [_plain(part) for part in output]
    return np.asarray(output)
