# SPDX-License-Identifier: Apache-2.0
"""What a replica does with a batch for a graph."""

from __future__ import annotations

from typing import Any

from xshards.errors import XShardsNotImplementedError, XShardsValueError
from xshards.learn.training.meters import NUM_SAMPLES
from xshards.learn.training.operator import Operator
from xshards.learn.training.replica_optimizer import ServerLink, ServerOptimizerBase
from xshards.learn.training.source import count_rows

__all__ = ["GraphOperator", "GraphServerOptimizer"]


class GraphServerOptimizer(ServerOptimizerBase):
    """Pushes the gradients of a graph and waits for the weights they lead to."""

    def __init__(self, link: ServerLink) -> None:
        self._gradients = [
            link.client.gradient(index) for index in range(len(link.view.values))
        ]
        self.bind(link)

    @property
    def handle(self) -> GraphServerOptimizer:
        """What the operator steps."""
        return self

    def options(self) -> list[dict[str, Any]]:
        """Return nothing: replicas cannot change any."""
        return [{} for _ in self._gradients]

    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Do nothing."""

    def step(self, gradients: list[Any]) -> None:
        """Hand the gradients over and wait for the weights they lead to."""
        if self.is_due:
            for own, gradient in zip(self._gradients, gradients, strict=True):
                own[:] = gradient
            self.link.client.presence[:] = 1
            self.push(self.rows)
        self.rows = 0


class GraphOperator(Operator):
    """Trains, measures and predicts with a graph."""

    def train_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Compute the loss and the gradients of a batch, and push them."""
        *features, target = batch
        if self.row_weights(target) is not None:
            msg = (
                "the loss of a graph is one number for all rows; make weights of rows "
                "or classes a part of the graph"
            )
            raise XShardsNotImplementedError(msg)
        gradients, loss = self.model.session.train(features, target)
        values = {"train_loss": loss, NUM_SAMPLES: count_rows(batch)}
        self._before_step(values, [batch])
        self.optimizer.step(gradients)
        return values

    def forward_batch(
        self, batch: Any, batch_info: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        """Return the outputs, the target and the loss."""
        *features, target = batch
        values, outputs = self.model.session.measure(features, target, outputs=True)
        return _alone(outputs), target, values.get("val_loss")

    def validate_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Measure the loss, the metrics in the graph, and the outputs for others."""
        *features, target = batch
        values, outputs = self.model.session.measure(
            features, target, outputs=bool(self.model.names.outputs)
        )
        return {**values, NUM_SAMPLES: count_rows(batch), "output": _alone(outputs)}

    def predict_batch(self, pred_batch: Any) -> Any:
        """Return the outputs for a batch of features."""
        names = self.model.names
        if not names.outputs:
            msg = "output is None, it should not be None in prediction"
            raise XShardsValueError(msg)
        outputs = self.model.session.predict(pred_batch)
        if names.output_keys is not None:
            return dict(zip(names.output_keys, outputs, strict=True))
        return _alone(outputs)

    def eval_mode(self) -> None:
        """Take over the weights as they are now."""
        self.model.session.load_weights()


def _alone(outputs: list[Any]) -> Any:
    return outputs[0] if len(outputs) == 1 else outputs
