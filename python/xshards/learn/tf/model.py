# SPDX-License-Identifier: Apache-2.0
"""A Keras model as the training core passes it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import (
    XShardsNotImplementedError,
    XShardsRuntimeError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.learn.tf.batches import as_data
from xshards.learn.tf.model_state import ModelState
from xshards.learn.tf.packages import (
    is_keras_model,
    is_of_keras,
    keras_of,
    load_tensorflow,
)
from xshards.learn.tf.seeding import drawn_from
from xshards.learn.tf.travelling import recipe_of
from xshards.learn.tf.variables import Weight, show

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KerasModel", "check_shapes", "require_compiled", "wrap_model"]


class KerasModel:
    """A model, how other processes make it, and one row of what it is trained on.

    Parameters
    ----------
    keras
        The model itself.
    creator
        Makes it from `config`; None if it is made of its configuration.
    compile_creator
        Makes the arguments of `compile` from `config`, if the creator does not compile.
    config
        What creators take.
    """

    def __init__(
        self,
        keras: Any,
        *,
        creator: Callable[..., Any] | None = None,
        compile_creator: Callable[..., Any] | None = None,
        config: dict[str, Any] | None = None,
    ) -> None:
        self.keras = keras
        self._creator = creator
        self._compile_creator = compile_creator
        self._config = {} if config is None else config
        #: One row of features, target and sample weights; None before the first fit.
        self.sample: tuple[Any, Any, Any] | None = None
        self._features: Any = None  # what variables were made of, before there is one
        #: Called when variables were given values, not views.
        self.on_assign: Callable[[], None] | None = None
        self._weights: list[Weight] = []
        self._state: ModelState | None = None

    @staticmethod
    def created(
        creator: Callable[..., Any],
        compile_creator: Callable[..., Any] | None,
        config: dict[str, Any],
    ) -> KerasModel:
        """Make a model by its creator."""
        return KerasModel(
            _created(creator, compile_creator, config),
            creator=creator,
            compile_creator=compile_creator,
            config=config,
        )

    @property
    def is_compiled(self) -> bool:
        """Whether it can be trained."""
        return getattr(self.keras, "optimizer", None) is not None and bool(
            getattr(self.keras, "compiled", getattr(self.keras, "_is_compiled", False))
        )

    @property
    def weights(self) -> list[Weight]:
        """The trainable variables; each always the same object."""
        variables = _trainable(self.keras)
        known = [weight.variable for weight in self._weights]
        if len(known) != len(variables) or any(
            one is not other for one, other in zip(known, variables, strict=True)
        ):
            self._weights = [Weight(variable) for variable in variables]
        return self._weights

    @property
    def state(self) -> ModelState:
        """What gradients do not change."""
        if self._state is None:
            self._state = ModelState(self.keras)
        return self._state

    def build(self, sample: tuple[Any, Any, Any]) -> None:
        """Make variables of layers and metrics that are not made yet.

        Those of the optimizer are not: the parameter server has its state.
        """
        tensorflow = load_tensorflow()
        x, y, weight = tensorflow.nest.map_structure(
            lambda one: None if one is None else tensorflow.convert_to_tensor(one),
            sample,
        )
        check_shapes(self.keras, sample[0])
        check_target(self.keras, sample[1])
        self.sample = sample
        if not getattr(self.keras, "built", True):
            self.keras(x)
        if self.is_compiled:
            check_optimizers(self.keras)
            kept = ModelState(self.keras).read()
            self._test(as_data(x, y, weight))
            self._restore(kept)
        self._state = ModelState(self.keras)

    def build_layers(self, features: Any) -> None:
        """Make the variables of layers, if they are not made yet, by a batch."""
        if not getattr(self.keras, "built", True):
            tensorflow = load_tensorflow()
            nest = tensorflow.nest
            self.keras(nest.map_structure(tensorflow.convert_to_tensor, features))
            self._features = features
            self._state = None

    def num_dimensions(self) -> int | None:
        """Return the dimensions of the first input, with that of rows, if known."""
        try:
            inputs = list(self.keras.inputs or [])
        except (AttributeError, ValueError):
            return None
        return len(inputs[0].shape) if inputs else None

    def creators(self) -> list[Any]:
        """Return the functions that make it, whose code may have to travel."""
        return [
            one for one in (self._creator, self._compile_creator) if one is not None
        ]

    def shared_again(self) -> None:
        """Have what variables were given shown to whoever shares their memory."""
        self._state = None
        if self.on_assign is not None:
            self.on_assign()

    def metrics_at_start(self) -> np.ndarray[Any, Any]:
        """Forget what metrics have seen; returns their state then."""
        self.keras.reset_metrics()
        self.state.latest = None
        return self.state.read()[2]

    def results(self) -> dict[str, Any]:
        """Return the values of all metrics, as `fit` of Keras logs them."""
        return {
            name: _plain(value)
            for name, value in self.keras.get_metrics_result().items()
        }

    def _test(self, data: Any) -> None:
        try:
            self.keras.test_step(data)
        except Exception as error:  # as many kinds as there are models
            msg = (
                "the model, its loss or a metric fails on the first row of the data, "
                f"{describe(self.sample)}: {error}"
            )
            raise XShardsValueError(msg) from error

    def _restore(self, kept: list[np.ndarray[Any, Any]]) -> None:
        """Undo what a step on one row did; metrics may have been made since."""
        self.metrics_at_start()
        floats, others, _ = kept
        state = ModelState(self.keras)
        state.write([floats, others, state.read()[2]])

    def __repr__(self) -> str:
        model = self.keras
        layers = [f"  {one.name}: {_layer_text(one)}" for one in model.layers]
        return "\n".join([f"{type(model).__name__} {model.name!r}", *layers])

    def __getstate__(self) -> dict[str, Any]:
        made = (
            ("creator", (self._creator, self._compile_creator, self._config))
            if self._creator is not None
            else ("recipe", recipe_of(self.keras))
        )
        return {
            "made": made,
            "sample": self.sample,
            "features": self._features,
            "weights": self.weights,
            "state": ModelState(self.keras).read(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        load_tensorflow()
        kind, content = state["made"]
        if kind == "creator":
            KerasModel.__init__(
                self,
                _created(*content),
                creator=content[0],
                compile_creator=content[1],
                config=content[2],
            )
        else:
            KerasModel.__init__(self, content.make())
        if state["features"] is not None:
            self.build_layers(state["features"])
        if state["sample"] is not None:
            self.build(state["sample"])
        if self.is_compiled:
            # Gradients may be applied without naming variables. Set in the usual way,
            # Keras 3 would take them for variables of the optimizer's own.
            optimizer = self.keras.optimizer
            object.__setattr__(
                optimizer, "_trainable_variables", _trainable(self.keras)
            )
        for weight, values in zip(self.weights, state["weights"], strict=True):
            show(weight.variable, values)
        if len(state["state"][2]) == len(self.state.read()[2]):
            self.state.write(state["state"])
        else:  # metrics are not made yet: nothing has been measured
            self.state.write([*state["state"][:2], self.state.read()[2]])


def _trainable(model: Any) -> list[Any]:
    try:
        return list(model.trainable_variables)
    except ValueError:  # legacy Keras, of a model that is not built
        return []


def _layer_text(layer: Any) -> str:
    if not layer.built:
        return f"{type(layer).__name__}, not built"
    count = sum(int(np.prod(one.shape, dtype=int)) for one in layer.weights)
    text = f"{type(layer).__name__}, {count:,} parameters"
    return text if layer.trainable or not count else f"{text}, frozen"


def wrap_model(
    model: Any,
    creator: Callable[..., Any] | None,
    compile_creator: Callable[..., Any] | None,
    config: dict[str, Any],
    seed: int | None,
) -> KerasModel:
    """Take the model that a user gave, or have it made."""
    if creator is not None:
        with drawn_from(seed):
            return KerasModel.created(creator, compile_creator, config)
    if not is_keras_model(model):
        msg = f"model must be a Keras model, got {type(model).__name__}"
        raise XShardsTypeError(msg)
    keras = keras_of(model)
    if keras.__name__ == "keras" and keras.backend.backend() != "tensorflow":
        msg = (
            "models of Keras are trained with TensorFlow under it; it computes with "
            f"{keras.backend.backend()}: set KERAS_BACKEND=tensorflow before the import"
        )
        raise XShardsValueError(msg)
    if compile_creator is not None:
        model.compile(**compile_creator(config))
    return KerasModel(model, config=config)


def _created(
    creator: Callable[..., Any],
    compile_creator: Callable[..., Any] | None,
    config: dict[str, Any],
) -> Any:
    model = creator(config)
    if not is_keras_model(model):
        msg = (
            "model_creator takes the config and returns a Keras model; it returned "
            f"{type(model).__name__}"
        )
        raise XShardsTypeError(msg)
    if compile_creator is not None:
        model.compile(**compile_creator(config))
    return model


def check_optimizers(model: Any) -> None:
    """Refuse optimizers besides that of `compile`, and one that scales losses."""
    if "LossScaleOptimizer" in type(model.optimizer).__name__:
        msg = (
            "mixed_float16 needs losses that are scaled (LossScaleOptimizer), which "
            "replicas do not do: use mixed_bfloat16, which needs no scaling, or float32"
        )
        raise XShardsNotImplementedError(msg)
    base = keras_of(model.optimizer).optimizers.Optimizer
    others = [
        name
        for name, value in vars(model).items()
        if isinstance(value, base) and value is not model.optimizer
    ]
    if others:
        msg = (
            f"{type(model).__name__} has optimizers besides that of compile, which "
            f"replicas would run each for itself: {', '.join(others)}"
        )
        raise XShardsNotImplementedError(msg)


def require_compiled(model: KerasModel) -> None:
    """Refuse a model that cannot be trained."""
    if not model.is_compiled:
        msg = (
            "the model is not compiled: call model.compile(optimizer, loss) before it "
            "is given to the Estimator, or give compile_args_creator"
        )
        raise XShardsRuntimeError(msg)


def check_target(model: Any, target: Any) -> None:
    """Refuse data without a target for a model that Keras' own steps train."""
    standard = is_of_keras(type(model).train_step)
    if target is None and standard and getattr(model, "loss", None) is not None:
        msg = (
            "the model has a loss, the data no target: give 'y' beside 'x', or "
            "label_cols"
        )
        raise XShardsValueError(msg)


def check_shapes(model: Any, features: Any) -> None:
    """Compare features with the inputs of a functional or sequential model."""
    try:
        inputs = list(model.inputs or [])
    except (AttributeError, ValueError):
        return
    given = _by_input(inputs, features)
    if len(given) != len(inputs):
        names = ", ".join(map(_input_name, inputs))
        msg = (
            f"the model has {len(inputs)} inputs ({names}), the data {len(given)} "
            "arrays of features"
        )
        raise XShardsValueError(msg)
    for one, array in zip(inputs, given, strict=True):
        wanted, shape = tuple(one.shape)[1:], np.shape(array)[1:]
        if not _accepts(wanted, shape):
            msg = (
                f"input {_input_name(one)!r} of the model takes rows of shape "
                f"{_text(wanted)}, the data has rows of shape {_text(shape)}"
            )
            raise XShardsValueError(msg)


def _by_input(inputs: list[Any], features: Any) -> list[Any]:
    if not isinstance(features, dict):
        flat: list[Any] = load_tensorflow().nest.flatten(features)
        return flat
    names = [_input_name(one) for one in inputs]
    missing = [name for name in names if name not in features]
    if missing:
        msg = (
            f"the model has inputs that the features lack: {', '.join(missing)}; "
            f"got {', '.join(map(str, features))}"
        )
        raise XShardsValueError(msg)
    return [features[name] for name in names]


def _accepts(wanted: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    if len(wanted) == len(shape) + 1 and wanted[-1] == 1:
        shape = (*shape, 1)  # Keras adds the axis
    return len(wanted) == len(shape) and all(
        size in (None, other) for size, other in zip(wanted, shape, strict=True)
    )


def _input_name(tensor: Any) -> str:
    return str(getattr(tensor, "name", "")).partition(":")[0]


def _text(shape: tuple[Any, ...]) -> str:
    return f"({', '.join('any' if size is None else str(size) for size in shape)})"


def describe(sample: Any) -> str:
    """Say what shapes a row has, for messages."""
    x, y, _ = sample

    def one(value: Any) -> str:
        if isinstance(value, dict):
            return ", ".join(f"{name} {one(part)}" for name, part in value.items())
        if isinstance(value, (list, tuple)):
            return ", ".join(map(one, value))
        return f"{np.asarray(value).dtype}{_text(np.shape(value)[1:])}"

    target = "none" if y is None else one(y)
    return f"features {one(x)} and target {target}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else array
