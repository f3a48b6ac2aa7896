# SPDX-License-Identifier: Apache-2.0
"""Commands of the driver to replicas, and their answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xshards.learn.training.clip import Clip

if TYPE_CHECKING:
    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.exchange import Exchange
    from xshards.learn.training.source import Source
    from xshards.runtime.request import Surroundings

__all__ = [
    "AddSource",
    "DropSource",
    "ModeSetUp",
    "Notify",
    "Parts",
    "SendState",
    "SetCallbacks",
    "SetUp",
    "Train",
    "Trained",
    "Validate",
]


@dataclass
class Parts:
    """What a replica trains with; packed without the trained parameters."""

    models: list[Any]
    #: As `UpdateMode.describe_optimizers` returns them.
    optimizers: list[Any] = field(default_factory=list)
    criterion: Any = None
    operator_class: Any = None
    scheduler_creator: Any = None
    #: "batch", "epoch" or "manual".
    scheduler_step_freq: str | None = "batch"
    #: Called in every replica before anything else.
    initialization_hook: Any = None
    config: dict[str, Any] = field(default_factory=dict)
    #: Whether to show progress; by default on a terminal or in a notebook.
    use_tqdm: bool | None = False
    operator_state: dict[str, Any] = field(default_factory=dict)
    #: What models compute in, if not in the type of their parameters; see
    #: `ModelAdapter.precisions`.
    precision: str | None = None


class ModeSetUp(ABC):
    """What a replica needs to take part in updates; one class a mode."""

    @abstractmethod
    def connect(
        self,
        adapter: ModelAdapter,
        rank: int,
        num_replicas: int,
        descriptors: list[int],
    ) -> Exchange:
        """Make the replica's side of the mode; in the replica."""


@dataclass(frozen=True)
class SetUp:
    """Become a replica; descriptors travel beside it, which `mode` knows."""

    rank: int
    num_replicas: int
    seed: int
    #: Counts set-ups; see `Position`.
    generation: int
    surroundings: Surroundings
    #: Packed: the `ModelAdapter`.
    adapter: bytes
    #: Packed, around the parameters that `mode` gives: `Parts`.
    parts: bytes
    mode: ModeSetUp


@dataclass(frozen=True)
class AddSource:
    """Have data ready; the descriptors of its segments travel beside."""

    number: int
    source: Source


@dataclass(frozen=True)
class DropSource:
    """Let go of data."""

    number: int


@dataclass(frozen=True)
class SetCallbacks:
    """Have these callbacks called from now on; nothing packed means none."""

    callbacks: bytes
    num_epochs: int
    #: Whether the run has begun, for a replica that takes another's place.
    begun: bool = False


@dataclass(frozen=True)
class Notify:
    """Call a stage of the callbacks; answered with whether one wants to stop."""

    stage: str
    #: What is known of the epoch, merged over replicas.
    stats: dict[str, Any]


@dataclass(frozen=True)
class Train:
    """Train one epoch; answered with `Trained`."""

    source: int
    epoch: int
    batch_size: int
    shuffle: bool
    #: Stop after this many batches of the epoch.
    max_batches: int | None = None
    #: Skip this many, which an earlier job has trained on.
    first_batch: int = 0
    info: dict[str, Any] = field(default_factory=dict)
    #: The state of schedulers and the options of groups as the epoch begins.
    schedulers: list[dict[str, Any]] | None = None
    options: list[list[dict[str, Any]]] | None = None
    #: Buffers that every replica should begin with; None keeps each one's own.
    buffers: list[Any] | None = None
    #: For replicas that run optimizers themselves: how to clip, and whether to report
    #: each batch and wait for an answer.
    clip: Clip = field(default_factory=Clip)
    watched: bool = False
    #: The loss of the epoch before, for schedulers that wait for one.
    observed: float | None = None
    #: What rows of each class count in the loss; None if they count alike.
    class_weight: dict[int, float] | None = None
    #: How many batches make one update.
    accumulate: int = 1
    #: Updates of the epoch; None if that is not known.
    num_steps: int | None = None


@dataclass(frozen=True)
class SendState:
    """Answer with the updates made, the parameters and the optimizers' states."""


@dataclass(frozen=True)
class Trained:
    """An epoch of one replica."""

    meters: tuple[Any, ...]
    #: What an operator's own `train_epoch` returned.
    result: dict[str, Any] | None
    seconds: float
    schedulers: list[dict[str, Any]]
    options: list[list[dict[str, Any]]]
    buffers: list[Any]
    operator_state: dict[str, Any]


@dataclass(frozen=True)
class Validate:
    """Measure the model; answered with the result and the states of metrics."""

    source: int
    batch_size: int
    #: Packed: name → metric.
    metrics: bytes
    max_batches: int | None = None
    info: dict[str, Any] = field(default_factory=dict)
    #: The buffers of the model that is measured; each replica gets its own back after.
    buffers: list[Any] = field(default_factory=list)
    #: Whether to report the buffers after each batch and wait for an answer.
    watched: bool = False
