# SPDX-License-Identifier: Apache-2.0
"""``TFPredictor``: the outputs of a graph for the elements of a dataset."""

from __future__ import annotations

from typing import Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.orca import session
from xshards.compat.spark.rdd import RDD
from xshards.compat.tfpark.structures import flatten, predicted_rows
from xshards.compat.tfpark.tf_dataset import TFDataset, find_dataset
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.learn.tf1 import Estimator
from xshards.learn.tf1.building import GraphParts, as_list
from xshards.learn.tf1.keras_model import keras_backend, keras_parts
from xshards.shards import XShards

__all__ = ["TFPredictor", "predict_rows", "predictor_of", "rows_of_predictions"]

use_version_1()


class TFPredictor:
    """Computes outputs for all elements of a dataset.

    Parameters
    ----------
    sess
        Has the values of variables.
    outputs
        Tensors to compute.
    inputs
        Placeholders to feed, if they are not those of the dataset.
    dataset
        The dataset, if it is not to be found from the outputs.
    """

    def __init__(
        self,
        sess: Any,
        outputs: Any,
        inputs: Any = None,
        dataset: TFDataset | None = None,
    ) -> None:
        outputs = as_list(outputs)
        self._dataset = find_dataset(outputs) if dataset is None else dataset
        with outputs[0].graph.as_default():
            given = self._dataset.feature_tensors if inputs is None else inputs
        parts = GraphParts(inputs=flatten(given), outputs=outputs)
        self._estimator = predictor_of(parts, sess)

    @classmethod
    def from_outputs(cls, sess: Any, outputs: Any) -> TFPredictor:
        """Make one of the outputs of a graph that depends on a `TFDataset`."""
        return cls(sess, outputs)

    @classmethod
    def from_keras(cls, keras_model: Any, dataset: TFDataset) -> TFPredictor:
        """Make one of a Keras model."""
        made = object.__new__(cls)
        made._dataset = dataset
        parts = keras_parts(keras_model, trained=False)
        with parts.graph.as_default():
            sess = keras_backend(keras_model).get_session()
        made._estimator = predictor_of(parts, sess)
        return made

    def predict(self) -> RDD:
        """Return an RDD with the outputs of each element, in order."""
        if self._dataset.batch_size > 0:
            msg = (
                "You should set batch_per_thread on TFDataset instead of batch_size "
                "for prediction"
            )
            raise OrcaInputError(msg)
        return predict_rows(self._estimator, self._dataset)


def predictor_of(parts: GraphParts, sess: Any) -> Estimator:
    """Make an Estimator that only predicts."""
    return Estimator.from_parts(
        parts, sess=sess, context=session.active_context()._engine
    )


def predict_rows(estimator: Estimator, dataset: TFDataset) -> RDD:
    """Return an RDD with the outputs of each row of a dataset."""
    data = dataset.read()
    if not isinstance(data, XShards):
        from xshards.io.memory import partition

        data = partition(data, context=session.active_context()._engine)
    return rows_of_predictions(estimator.predict(data, dataset.rows_at_a_time))


def rows_of_predictions(predicted: XShards) -> RDD:
    """Return an RDD with the outputs of each row of shards with predictions."""
    context = session.active_context()
    rdd = RDD(context, lambda: predicted, predicted.num_partitions())
    return rdd.flatMap(predicted_rows)
