# SPDX-License-Identifier: Apache-2.0
"""Several updates in one call of TensorFlow, without Python between them."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards import _core
from xshards.errors import XShardsError
from xshards.learn.checks import nan_loss
from xshards.learn.tf.packages import load_tensorflow
from xshards.learn.training.replica_optimizer import JobStoppedError
from xshards.learn.training.replica_turn import WindowNote

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.learn.tf.model import KerasModel
    from xshards.learn.tf.step_functions import TrainFunction
    from xshards.learn.training.replica_turn import Position, Turn

__all__ = ["Windows", "add_operation"]

_log = logging.getLogger(__name__)

#: A call of TensorFlow costs as much as a step of a small model: this many share one.
_MOST_STEPS = 32
#: The batches of a window are copied to one place, which is no larger than this unless
#: one batch is.
_MOST_BYTES = 8 << 20
_PYTHON_OPERATIONS = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


def add_operation() -> bool:
    """Give TensorFlow the operation that makes an update; False if it cannot be."""
    load_tensorflow()
    try:
        _core.add_tensorflow_step()
    except XShardsError as error:
        _log.info("each update is made from Python: %s", error)
        return False
    return True


@dataclass
class _Held:
    """Batches of the same shape that wait to be trained on."""

    key: Any
    structure: Any
    before: Position
    #: Each array of a batch, of all batches.
    arrays: list[np.ndarray[Any, Any] | None]
    rows: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)

    def batch(self, index: int) -> Any:
        """Return one of the batches again."""
        flat = [None if one is None else one[index] for one in self.arrays]
        return load_tensorflow().nest.pack_sequence_as(self.structure, flat)


class Windows:
    """Collects batches of a replica, and trains on all that it has in one call.

    Parameters
    ----------
    model, train_function
        What is trained, and its step.
    turn
        Where the replica is; batches that are added begin there.
    client
        The replica's end of the parameter server.
    """

    def __init__(
        self,
        model: KerasModel,
        train_function: TrainFunction,
        turn: Turn,
        client: _core.ReplicaClient,
    ) -> None:
        self._model = model
        self._train = train_function
        self._turn = turn
        self._client = client
        self._window = _core.StepWindow(client)
        self._traced: dict[Any, Callable[..., Any]] = {}
        self._held: _Held | None = None
        self._buffers: list[tuple[str, int]] | None = None
        #: What the last step of the last window returned, by name.
        self.logs: dict[str, float] = {}

    def needs_python(self) -> bool:
        """Whether Python has to be called for each step.

        Python functions in a model may draw random numbers, which are seeded by the
        batch; and only arrays of numbers are put together in memory.
        """
        sample = self._model.sample
        flat = _leaves(sample)
        if any(one is not None and one.dtype.kind not in "biuf" for one in flat):
            return True
        graph = self._trace(_key(flat), sample, flat).graph  # type: ignore[attr-defined]
        definition = graph.as_graph_def()
        used = {node.op for node in definition.node}
        for function in definition.library.function:
            used |= {node.op for node in function.node_def}
        return not used.isdisjoint(_PYTHON_OPERATIONS)

    def add(self, number: int, rows: int, step_rows: int, batch: Any) -> bool:
        """Hold a batch that comes next; False if there is no room for it.

        Its arrays may be reused afterwards.
        """
        flat = _leaves(batch)
        key = (rows, *_key(flat))
        turn, held = self._turn, self._held
        if held is None:
            room = _room(flat)
            arrays = [
                None if one is None else np.empty((room, *one.shape), one.dtype)
                for one in flat
            ]
            held = self._held = _Held(key, batch, turn.before(number), arrays)
        elif held.key != key or len(held.rows) == len(_first(held.arrays)):
            return False
        place = len(held.rows)
        for all_of, one in zip(held.arrays, flat, strict=True):
            if all_of is not None:
                all_of[place] = one
        turn.begin_batch(number, rows, step_rows, python=False)
        held.rows.append(rows)
        held.shares.append(rows / step_rows)
        held.seeds.append(getattr(turn.adapter, "last_seed", 0))
        return True

    def run(self) -> int:
        """Train on the batches held; returns how many there were."""
        held, self._held = self._held, None
        if held is None:
            return 0
        count = len(held.rows)
        function = self._function(held)
        self._begin(held)
        tf = load_tensorflow()
        seeds = np.array(
            [[one & 0x7FFFFFFF, (one >> 31) & 0x7FFFFFFF] for one in held.seeds]
        )
        stacked = [one[:count] for one in held.arrays if one is not None]
        function(
            tf.constant(self._window.address, tf.int64),
            tf.constant(held.shares, tf.float32),
            tf.constant(seeds, tf.int32),
            *map(tf.convert_to_tensor, stacked),
        )
        self._model.state.latest = None
        self._window.check()
        for optimizer in self._turn.optimizers:
            optimizer.rows = 0
        done = self._window.num_done
        self._note(held, self._window.values.reshape(done, len(self._train.log_names)))
        if self._window.outcome == "stopped":
            raise JobStoppedError
        if self._window.outcome == "nan_loss":
            raise self._nan_loss(held)
        return count

    def _function(self, held: _Held) -> Callable[..., Any]:
        key = held.key[1:]
        if key not in self._traced:
            flat = [None if one is None else one[0] for one in held.arrays]
            self._traced[key] = self._trace(key, held.structure, flat)
        return self._traced[key]

    def _begin(self, held: _Held) -> None:
        names = self._train.log_names
        present = self._train.present
        if self._buffers is None:
            state = self._model.state.read()
            self._buffers = [(str(one.dtype), one.nbytes) for one in state]
        buffers = self._buffers
        loss = names.index("loss") if "loss" in names else -1
        note = WindowNote(held.rows, len(names), loss, buffers)
        self._client.presence[:] = present
        self._window.begin(
            held.before.encode(note),
            held.rows,
            [index for index, here in enumerate(present) if here],
            sum(size for _, size in buffers),
            len(names),
            loss,
        )

    def _note(self, held: _Held, values: np.ndarray[Any, Any]) -> None:
        names, turn = self._train.log_names, self._turn
        for rows, of_step in zip(held.rows, values.tolist(), strict=False):
            self.logs = dict(zip(names, of_step, strict=True))
            if "loss" in self.logs:
                turn.meters.add({"train_loss": self.logs["loss"]}, rows)

    def _nan_loss(self, held: _Held) -> Exception:
        turn, index = self._turn, self._window.num_done
        where = f"in batch {held.before.batch + index + 1} of epoch {turn.epoch + 1}"
        return nan_loss([held.batch(index)], where, turn.columns, turn.adapter.to_numpy)

    def _trace(self, key: Any, structure: Any, flat: list[Any]) -> Callable[..., Any]:
        """Make the function of all steps of a window."""
        if key in self._traced:
            return self._traced[key]
        tf, train = load_tensorflow(), self._train
        present = [one is not None for one in flat]
        as_it_is = tf.autograph.experimental.do_not_convert
        state_in_graph = as_it_is(self._model.state.in_graph)
        update = as_it_is(_update)

        def run(window: Any, shares: Any, seeds: Any, *stacked: Any) -> Any:
            count = tf.shape(shares)[0]

            def step(index: Any, _: Any) -> Any:
                given = iter(stacked)
                batch = [next(given)[index] if here else None for here in present]
                data = tf.nest.pack_sequence_as(structure, batch)
                gradients, logs = train.step(data, seeds[index], shares[index])
                go_on = update(window, [*gradients, *state_in_graph(), logs])
                with tf.control_dependencies([go_on]):
                    return index + 1, go_on

            # One iteration at a time: it reads the weights that the one before made.
            return tf.while_loop(
                lambda index, go_on: tf.logical_and(index < count, go_on),
                step,
                (tf.constant(0), tf.constant(value=True)),
                parallel_iterations=1,
            )

        specs = [
            tf.TensorSpec([], tf.int64),
            tf.TensorSpec([None], tf.float32),
            tf.TensorSpec([None, 2], tf.int32),
            *(
                tf.TensorSpec([None, None, *one.shape[1:]], one.dtype)
                for one in flat
                if one is not None
            ),
        ]
        made = tf.function(run, input_signature=specs).get_concrete_function()
        self._traced[key] = made
        return made  # type: ignore[no-any-return]


def _update(window: Any, tensors: list[Any]) -> Any:
    """Push gradients and wait for the weights, as an operation of a graph."""
    from tensorflow.python.framework import op_def_library

    *_, outputs = op_def_library._apply_op_helper(
        "XShardsStep", window=window, tensors=tensors
    )
    return load_tensorflow().reshape(outputs[0], [])


def _leaves(batch: Any) -> list[Any]:
    flat = load_tensorflow().nest.flatten(batch)
    return [None if one is None else np.asarray(one) for one in flat]


def _key(flat: list[Any]) -> tuple[Any, ...]:
    return tuple(None if one is None else (one.dtype, *one.shape[1:]) for one in flat)


def _first(arrays: list[Any]) -> Any:
    return next(one for one in arrays if one is not None)


def _room(flat: list[Any]) -> int:
    size: int = sum(one.nbytes for one in flat if one is not None)
    return max(1, min(_MOST_STEPS, _MOST_BYTES // max(1, size)))
