# SPDX-License-Identifier: Apache-2.0
"""``TFNet``: a frozen graph as a layer, forward and backward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.compat.errors import OrcaInputError
from xshards.compat.tfpark.files import GRAPH_FILE, META_FILE
from xshards.compat.tfpark.structures import flatten
from xshards.compat.tfpark.tf_dataset import TFDataset
from xshards.compat.tfpark.tf_predictor import predict_rows, predictor_of
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.learn.tf1.building import GraphParts, as_list
from xshards.learn.tf1.framework import tf

if TYPE_CHECKING:
    from xshards.learn.tf1 import Estimator

__all__ = ["TFNet"]

use_version_1()


class TFNet:
    """A graph whose variables are constants, from given inputs to given outputs.

    Parameters
    ----------
    path
        A file of a frozen GraphDef, or a folder that `export_tf` wrote.
    input_names, output_names
        Tensors of the graph; those that the folder names by default.
    """

    def __init__(
        self,
        path: str,
        input_names: Any = None,
        output_names: Any = None,
        bigdl_type: str = "float",
    ) -> None:
        content = Path(path)
        if content.is_dir():
            names = json.loads((content / META_FILE).read_text())
            input_names = input_names or names["input_names"]
            output_names = output_names or names["output_names"]
            content /= GRAPH_FILE
        if not content.is_file():
            msg = f"{path} does not exist"
            raise OrcaInputError(msg)
        definition = tf.GraphDef.FromString(content.read_bytes())
        self._set(definition, as_list(input_names), as_list(output_names))

    def _set(
        self,
        definition: Any,
        inputs: list[str],
        outputs: list[str],
        *,
        back: bool = True,
    ) -> None:
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(definition, name="")
            self._inputs = [graph.as_graph_element(_tensor(one)) for one in inputs]
            self._outputs = [graph.as_graph_element(_tensor(one)) for one in outputs]
        self._graph, self._session = graph, tf.Session(graph=graph)
        self._has_backward = back
        self._backward: tuple[list[Any], list[Any]] | None = None
        self._estimator: Estimator | None = None

    @classmethod
    def from_export_folder(cls, folder: str) -> TFNet:
        """Make one of what `export_tf` wrote."""
        if not Path(folder).is_dir():
            msg = f"{folder} does not exist"
            raise OrcaInputError(msg)
        return cls(folder)

    @classmethod
    def from_saved_model(
        cls,
        model_path: str,
        tag: str = "serve",
        signature: str | None = None,
        inputs: list[str] | None = None,
        outputs: list[str] | None = None,
        tf_session_config: Any = None,
        init_op: str | None = None,
    ) -> TFNet:
        """Make one of a SavedModel, by a signature or by the names of tensors."""
        if not Path(model_path).is_dir():
            msg = f"{model_path} does not exist"
            raise OrcaInputError(msg)
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            meta = tf.saved_model.load(session, [tag], model_path)
            if inputs is None or outputs is None:
                name = signature or "serving_default"
                if name not in meta.signature_def:
                    known = ", ".join(meta.signature_def)
                    msg = f"{model_path} has the signatures {known}; got {name!r}"
                    raise OrcaInputError(msg)
                found = meta.signature_def[name]
                inputs = inputs or _names(found.inputs)
                outputs = outputs or _names(found.outputs)
            return cls._frozen(session, inputs, outputs)

    @classmethod
    def from_session(
        cls,
        sess: Any,
        inputs: Any,
        outputs: Any,
        generate_backward: bool = False,  # noqa: FBT001 - as in Orca
        allow_non_differentiable_input: bool = True,  # noqa: FBT001
    ) -> TFNet:
        """Make one of tensors of a session, which may be closed afterwards."""
        given, wanted = (
            [one.name for one in as_list(some)] for some in (inputs, outputs)
        )
        return cls._frozen(sess, given, wanted, back=generate_backward)

    @classmethod
    def _frozen(
        cls, sess: Any, inputs: list[str], outputs: list[str], *, back: bool = True
    ) -> TFNet:
        operations = [one.split(":")[0] for one in (*outputs, *inputs)]
        with sess.graph.as_default():
            definition = tf.graph_util.convert_variables_to_constants(
                sess, sess.graph.as_graph_def(), list(dict.fromkeys(operations))
            )
        made = object.__new__(cls)
        made._set(definition, inputs, outputs, back=back)
        return made

    def forward(self, input: Any) -> Any:
        """Return the outputs for an array, or for one array for each input."""
        found = self._session.run(self._outputs, self._feed(input))
        return found[0] if len(found) == 1 else found

    def backward(self, input: Any, grad_output: Any) -> Any:
        """Return the gradient of the inputs for that of the outputs."""
        if not self._has_backward:
            msg = "backward needs from_session(..., generate_backward=True)"
            raise OrcaInputError(msg)
        if self._backward is None:
            with self._graph.as_default():
                fed = [tf.placeholder(one.dtype, one.shape) for one in self._outputs]
                gradients = tf.gradients(self._outputs, self._inputs, fed)
                filled = [
                    tf.zeros_like(given) if one is None else tf.convert_to_tensor(one)
                    for one, given in zip(gradients, self._inputs, strict=True)
                ]
            self._backward = fed, filled
        fed, gradients = self._backward
        values = flatten(grad_output)
        feed = self._feed(input) | dict(zip(fed, values, strict=True))
        found = self._session.run(gradients, feed)
        return found[0] if len(found) == 1 else found

    def predict(
        self,
        x: Any,
        batch_per_thread: int = 1,
        distributed: bool = True,  # noqa: FBT001 - as in Orca
    ) -> Any:
        """Return an RDD with the outputs of each row, or arrays of all of them.

        Parameters
        ----------
        x
            Arrays, or a `TFDataset`.
        batch_per_thread
            Rows at a time.
        distributed
            Give an RDD; for arrays only.
        """
        if self._estimator is None:
            parts = GraphParts(inputs=self._inputs, outputs=self._outputs)
            self._estimator = predictor_of(parts, self._session)
        if not isinstance(x, TFDataset) and not distributed:
            return self._estimator.predict(x, batch_per_thread)
        if not isinstance(x, TFDataset):
            x = list(x) if isinstance(x, (list, tuple)) else [x]
            x = TFDataset.from_ndarrays(x, batch_per_thread=batch_per_thread)
        return predict_rows(self._estimator, x)

    def evaluate(self) -> TFNet:
        """Do nothing: a frozen graph is what it is."""
        return self

    def _feed(self, value: Any) -> dict[Any, Any]:
        values = flatten(value)
        if len(values) != len(self._inputs):
            names = ", ".join(one.name for one in self._inputs)
            msg = f"expected an array for each of {names}; got {len(values)}"
            raise OrcaInputError(msg)
        return {
            given: np.asarray(one, given.dtype.as_numpy_dtype)
            for given, one in zip(self._inputs, values, strict=True)
        }


def _tensor(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _names(signature: Any) -> list[str]:
    return [signature[key].name for key in sorted(signature)]
