# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow graph as plain data, which every process can import and run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from xshards.learn.tf1.graph_session import GraphSession

__all__ = ["FixedFeed", "FlatVector", "GraphModel", "GraphNames", "TensorSpec"]


@dataclass(frozen=True)
class TensorSpec:
    """A tensor that batches are fed to."""

    #: In the graph, as "name:0".
    name: str
    #: numpy's name of its type; "object" for strings.
    dtype: str
    #: None where a dimension is not known; None altogether where the rank is not.
    shape: tuple[int | None, ...] | None
    #: What users call it, to find it in a dict.
    key: str = ""


@dataclass(frozen=True)
class FixedFeed:
    """A tensor that gets one value in training and another one otherwise."""

    name: str
    training: Any
    otherwise: Any


@dataclass(frozen=True)
class VectorNames:
    """Where variables of one dtype are fed and their gradient comes from."""

    placeholder: str
    gradient: str
    #: Name and shape of each variable, in the order they have in the vector.
    variables: list[tuple[str, tuple[int, ...]]]


@dataclass
class GraphNames:
    """The names in a graph of what replicas run."""

    inputs: list[TensorSpec]
    labels: list[TensorSpec]
    outputs: list[str]
    loss: str | None = None
    #: Scalars that are averaged over rows, by the users' names for them.
    metrics: dict[str, str] = field(default_factory=dict)
    vectors: list[VectorNames] = field(default_factory=list)
    #: Variables that no gradient changes: name, placeholder, and value after a step.
    buffers: list[tuple[str, str, str]] = field(default_factory=list)
    #: Operations to run with each step, as one.
    updates: str | None = None
    #: What writes the fed vectors and buffers to the variables.
    load_weights: str | None = None
    load_buffers: str | None = None
    #: What a session needs before anything else: lookup tables, local variables.
    initializers: list[str] = field(default_factory=list)
    fixed: list[FixedFeed] = field(default_factory=list)
    #: Keys of the outputs, if users want them back as a dict.
    output_keys: list[str] | None = None


class FlatVector:
    """Trainable variables of one dtype, end to end.

    Parameters
    ----------
    data
        One dimension. While training runs it is memory of the parameter server.
    """

    def __init__(self, data: np.ndarray[Any, Any]) -> None:
        self.data = data


class GraphModel:
    """A graph, the names of what to run in it, and the values of its variables.

    Parameters
    ----------
    content
        The GraphDef, serialised.
    names
        What to run.
    vectors
        The values of the variables that training changes.
    buffers
        The values of all other variables, which update operations may change.
    config
        A ConfigProto, serialised; None for one thread a process.
    """

    def __init__(
        self,
        content: bytes,
        names: GraphNames,
        vectors: list[FlatVector],
        buffers: list[np.ndarray[Any, Any]],
        config: bytes | None = None,
    ) -> None:
        self.content = content
        self.names = names
        self.vectors = vectors
        self.buffers = buffers
        self.config = config
        #: Whether the session still has older buffers than these.
        self.buffers_changed = False
        self._session: GraphSession | None = None

    @property
    def session(self) -> GraphSession:
        """The graph, imported in this process, with these values."""
        if self._session is None:
            from xshards.learn.tf1.graph_session import GraphSession

            self._session = GraphSession(self)
        return self._session

    def close(self) -> None:
        """Give up the session of this process."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}

    def __repr__(self) -> str:
        names = self.names
        parts = ", ".join(one.name for one in names.inputs)
        return f"GraphModel({parts} -> {', '.join(names.outputs)}; loss {names.loss})"
