# SPDX-License-Identifier: Apache-2.0
"""One step of a Keras model as one function of TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsRuntimeError
from xshards.learn.tf.batches import as_data
from xshards.learn.tf.losses import SharedLosses
from xshards.learn.tf.packages import keras_of, load_tensorflow

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.learn.tf.model import KerasModel

__all__ = ["PredictFunction", "TestFunction", "TrainFunction"]


class _Function:
    """Runs a step on batches of one structure; traced once for each structure."""

    def __init__(self, model: KerasModel) -> None:
        self._model = model
        self._tf = load_tensorflow()
        self._losses = SharedLosses(model.keras)
        self._traced: dict[Any, Callable[..., Any]] = {}

    def _call(self, batch: Any, *leading: Any) -> Any:
        tf = self._tf
        flat = [
            None if one is None else tf.convert_to_tensor(one)
            for one in tf.nest.flatten(batch)
        ]
        key = tuple(
            None if one is None else (one.dtype, *one.shape[1:]) for one in flat
        )
        function = self._traced.get(key)
        if function is None:
            function = self._trace(batch, flat, leading)
            self._traced[key] = function
        return function(*leading, *(one for one in flat if one is not None))

    def _trace(self, batch: Any, flat: Any, leading: Any) -> Callable[..., Any]:
        tf = self._tf
        present = [one is not None for one in flat]

        def run(*arguments: Any) -> Any:
            given = iter(arguments[len(leading) :])
            packed = [next(given) if here else None for here in present]
            data = tf.nest.pack_sequence_as(batch, packed)
            return self._run(data, *arguments[: len(leading)])

        if getattr(self._model.keras, "run_eagerly", False):
            return run
        specs = [tf.TensorSpec(one.shape, one.dtype) for one in leading] + [
            tf.TensorSpec([None, *one.shape[1:]], one.dtype)
            for one in flat
            if one is not None
        ]
        # The concrete function: to choose one for the arguments costs as much as a step
        # of a small model.
        traced = tf.function(run, input_signature=specs)
        return traced.get_concrete_function()  # type: ignore[no-any-return]

    def _run(self, data: Any, *leading: Any) -> Any:
        raise NotImplementedError

    def _compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Compile a part by XLA, if the model was compiled so."""
        keras_model = self._model.keras
        wanted = getattr(keras_model, "jit_compile", None)
        if keras_of(keras_model).__name__ == "tf_keras":
            wanted = getattr(keras_model, "_jit_compile", None)
        if not wanted or getattr(keras_model, "run_eagerly", False):
            return function
        compiled: Callable[..., Any] = self._tf.function(
            function, jit_compile=True, reduce_retracing=True
        )
        return compiled


class TrainFunction(_Function):
    """Computes gradients of a batch, and the state of the model after it.

    Runs the model's own `train_step`, whatever it is; of its optimizer it only takes
    the gradients that it is given.
    """

    def __init__(self, model: KerasModel) -> None:
        super().__init__(model)
        self._seeds = _seeds_of(model)
        self._compiled_step = self._compiled(self._compute)
        #: Whether each trainable variable has a gradient; known after the first step.
        self.present: list[bool] = []
        #: The names of what `train_step` returned.
        self.log_names: list[str] = []

    def __call__(
        self, batch: Any, seed: int, share: float
    ) -> tuple[list[Any], Any, list[Any]]:
        """Return gradients, values of `train_step`, and the model's state.

        `share` is the part of the step's rows that the batch has.
        """
        tf = self._tf
        low, high = seed & 0x7FFFFFFF, (seed >> 31) & 0x7FFFFFFF
        gradients, logs, state = self._call(
            batch, tf.constant([low, high]), tf.constant(share)
        )
        return gradients, logs, state

    def step(self, data: Any, seed: Any, share: Any) -> tuple[list[Any], Any]:
        """Compute gradients and what `train_step` returns, in a traced function."""
        _set_seeds(self._tf, self._seeds, seed)
        gradients, logs = self._compiled_step(data, share)
        return gradients, logs

    def _run(self, data: Any, *leading: Any) -> Any:
        gradients, logs = self.step(data, *leading)
        return gradients, logs, self._model.state.in_graph()

    def _compute(self, data: Any, share: Any) -> Any:
        tf, keras_model = self._tf, self._model.keras
        with (
            _GradientsTaken(keras_model.optimizer) as taken,
            self._losses.of(share),
        ):
            logs = keras_model.train_step(as_data(*data))
        found = taken.by_variable()
        gradients = [found.get(id(one.variable)) for one in self._model.weights]
        self.present = [one is not None for one in gradients]
        dense = [tf.convert_to_tensor(one) for one in gradients if one is not None]
        values = _scalars(tf, logs)
        self.log_names = list(values)
        stacked = tf.stack(list(values.values())) if values else tf.zeros([0])
        return dense, stacked


class TestFunction(_Function):
    """Runs a model's own `test_step`, which adds a batch to its metrics."""

    def __init__(self, model: KerasModel) -> None:
        super().__init__(model)
        self._step = self._compiled(self._compute)

    def __call__(self, batch: Any, share: float) -> None:
        """Measure a batch, which has a share of the rows of all replicas' batches."""
        self._call(batch, self._tf.constant(share))

    def _run(self, data: Any, *leading: Any) -> Any:
        return self._step(data, leading[0])

    def _compute(self, data: Any, share: Any) -> Any:
        with self._losses.of(share):
            self._model.keras.test_step(as_data(*data))
        return self._tf.zeros([0])


class PredictFunction(_Function):
    """Runs a model's own `predict_step`."""

    def __call__(self, features: Any) -> Any:
        """Return the output for features."""
        return self._call(features)

    def _run(self, data: Any, *leading: Any) -> Any:
        return self._model.keras.predict_step(as_data(data, None, None))


class _GradientsTaken:
    """Keeps an optimizer from updating; remembers the gradients that it was given."""

    _NAMES = ("apply_gradients", "apply", "scale_loss")

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        self._pairs: list[tuple[Any, Any]] = []

    def __enter__(self) -> _GradientsTaken:
        replacements = (self._apply_gradients, self._apply, lambda loss: loss)
        for name, function in zip(self._NAMES, replacements, strict=True):
            object.__setattr__(self._optimizer, name, function)
        return self

    def __exit__(self, *error: object) -> None:
        for name in self._NAMES:
            object.__delattr__(self._optimizer, name)

    def by_variable(self) -> dict[int, Any]:
        """Return the gradient of each variable that has one."""
        found: dict[int, Any] = {}
        for gradient, variable in self._pairs:
            if gradient is None:
                continue
            if id(variable) in found:
                msg = "train_step applied two gradients to one variable in a step"
                raise XShardsRuntimeError(msg)
            found[id(variable)] = gradient
        return found

    def _apply_gradients(self, pairs: Any, *_: Any, **__: Any) -> None:
        self._pairs += list(pairs)

    def _apply(self, gradients: Any, variables: Any = None, *_: Any, **__: Any) -> None:
        if variables is None:
            variables = self._optimizer._trainable_variables
        self._pairs += list(zip(gradients, variables, strict=True))


def _scalars(tf: Any, logs: Any) -> dict[str, Any]:
    if not isinstance(logs, dict):
        return {}
    numbers = {}
    for name, value in logs.items():
        tensor = None if isinstance(value, dict) else tf.convert_to_tensor(value)
        if tensor is not None and tensor.shape.rank == 0 and not tensor.dtype.is_bool:
            numbers[name] = tf.cast(tensor, tf.float32)
    return numbers


def _seeds_of(model: KerasModel) -> list[Any]:
    """Return the variables that random layers draw from."""
    named = ("seed_generator_state", "StateVar")
    return [
        one
        for one in model.state.others
        if len(one.shape) == 1 and any(part in one.name for part in named)
    ]


def _set_seeds(tf: Any, seeds: list[Any], seed: Any) -> None:
    for number, variable in enumerate(seeds):
        kind = getattr(variable.dtype, "as_numpy_dtype", variable.dtype)
        parts = [seed[0], seed[1] + number * 0x9E3779]
        parts += [tf.zeros([], tf.int32)] * (int(variable.shape[0]) - 2)
        variable.assign(tf.cast(tf.stack(parts), kind))
