# SPDX-License-Identifier: Apache-2.0
"""Trains, evaluates and applies TensorFlow 1 graphs on shards."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from xshards.context import default_context
from xshards.errors import XShardsNotImplementedError
from xshards.learn.tf1.adapter import GraphAdapter
from xshards.learn.tf1.building import (
    GraphParts,
    as_list,
    build_model,
    new_session,
)
from xshards.learn.tf1.datasets import is_dataset, read_dataset
from xshards.learn.tf1.framework import tf
from xshards.learn.tf1.operator import GraphOperator
from xshards.learn.tf1.optimizers import groups_of, is_orca, make_optimizer
from xshards.learn.tf1.session_estimator import SessionEstimator
from xshards.learn.training.clip import Clip
from xshards.learn.training.commands import Parts
from xshards.learn.training.job import Job, check_num_replicas

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from xshards.context import Context
    from xshards.learn.history import History
    from xshards.learn.training.driver_optimizer import DriverOptimizer

__all__ = ["Estimator"]


class Estimator(SessionEstimator):
    """Trains a TensorFlow graph on shards with several replicas of it.

    Make one with `from_graph` or `from_keras`. Besides shards, DataFrames and arrays
    its data can be a tf.data.Dataset that is not batched. Before each call the values
    of variables are taken from the session, and after training they are put there.

    Parameters
    ----------
    job, metrics, model_dir, clip, context
        What `from_graph` makes.
    built
        The model and the variables of the user's graph.
    sess
        The user's session.

    Examples
    --------
    >>> from xshards.learn.tf1 import Estimator
    >>> from xshards.learn.tf1.framework import tf
    >>> with tf.Graph().as_default():
    ...     x = tf.placeholder(tf.float32, [None, 1])
    ...     estimator = Estimator.from_graph(inputs=x, outputs=x * 2)
    >>> estimator.predict(np.ones((2, 1)))
    array([[2.],
           [2.]], dtype=float32)
    >>> estimator.shutdown()
    """

    @classmethod
    def from_graph(
        cls,
        *,
        inputs: Any,
        outputs: Any = None,
        labels: Any = None,
        loss: Any = None,
        optimizer: Any = None,
        metrics: dict[str, Any] | None = None,
        clip_norm: float | None = None,
        clip_value: float | tuple[float, float] | None = None,
        updates: Any = None,
        sess: Any = None,
        model_dir: str | None = None,
        workers: int | None = None,
        seed: int | None = None,
        context: Context | None = None,
    ) -> Self:
        """Make an Estimator of tensors of a graph.

        Parameters
        ----------
        inputs, labels
            Placeholders, one or several, for the features and the targets of a batch.
        outputs
            What `predict` returns, one tensor or several.
        loss
            A scalar: the mean over the rows of a batch.
        optimizer
            One of tf.train, of Keras, or of `xshards.learn.optimizers`; or a dict of
            the latter by prefixes of variables' names.
        metrics
            Scalar tensors by name, averaged over rows.
        clip_norm
            Clip the gradient of each variable to this norm.
        clip_value
            Limit each element of the gradient: a number for both sides, or a pair.
        updates
            Operations to run with each step, such as those of batch normalisation.
        sess
            A session in which variables have values; by default a new one in which
            they have their initial values.
        model_dir
            Where checkpoints go.
        workers
            How many replicas; by default one for each core of the context.
        seed
            Repeats shuffling and random operations; by default the graph's.
        context
            Where replicas run; by default the one of this process.

        Returns
        -------
        Estimator
            One that has not trained yet; replicas start with the first `fit`.

        Raises
        ------
        XShardsTypeError
            If a tensor or the optimizer is none of TensorFlow's graphs.
        XShardsValueError
            If the loss depends on no variable, or a variable has no value.

        Examples
        --------
        >>> from xshards.learn.tf1 import Estimator
        >>> from xshards.learn.tf1.framework import tf
        >>> with tf.Graph().as_default():
        ...     x = tf.placeholder(tf.float32, [None, 1])
        ...     y = tf.placeholder(tf.float32, [None, 1])
        ...     weight = tf.get_variable("weight", [1, 1])
        ...     loss = tf.reduce_mean((tf.matmul(x, weight) - y) ** 2)
        ...     estimator = Estimator.from_graph(
        ...         inputs=x,
        ...         labels=y,
        ...         loss=loss,
        ...         optimizer=tf.train.GradientDescentOptimizer(0.5),
        ...         workers=2,
        ...     )
        >>> rows = np.linspace(0, 1, 64).reshape(-1, 1)
        >>> history = estimator.fit({"x": rows, "y": 3 * rows}, epochs=20)
        >>> estimator.sess.run(weight).round(2)
        array([[3.]], dtype=float32)
        >>> estimator.shutdown()
        """
        parts = GraphParts(
            inputs=as_list(inputs),
            labels=as_list(labels),
            outputs=as_list(outputs),
            loss=loss,
            metrics=dict(metrics or {}),
            updates=as_list(updates),
            clip_norm=clip_norm if is_orca(optimizer) else None,
        )
        return cls.from_parts(
            parts,
            optimizer=optimizer,
            clip_norm=clip_norm,
            clip_value=clip_value,
            sess=sess,
            model_dir=model_dir,
            workers=workers,
            seed=seed,
            context=context,
        )

    @classmethod
    def from_parts(
        cls,
        parts: GraphParts,
        *,
        optimizer: Any = None,
        make: Any = None,
        metrics: Any = None,
        clip_norm: float | None = None,
        clip_value: float | tuple[float, float] | None = None,
        sess: Any = None,
        config: Any = None,
        model_dir: str | None = None,
        workers: int | None = None,
        seed: int | None = None,
        context: Context | None = None,
    ) -> Self:
        """Make an Estimator of what other interfaces found in a graph.

        `make` makes the driver's optimizer of the built model, if `optimizer` is not
        what does; `metrics` are of `xshards.learn.metrics`.
        """
        graph, context = parts.graph, context or default_context()
        sess = new_session(graph) if sess is None else sess
        with graph.as_default():
            trained = parts.variables
            if isinstance(optimizer, dict):
                trained = tf.trainable_variables() if trained is None else trained
                parts.groups = groups_of(optimizer, trained)
        built = build_model(parts, sess, config)
        optimizers: list[DriverOptimizer] = []
        if make is not None:
            optimizers = [make(built)]
        elif optimizer is not None and built.trained:
            optimizers = [make_optimizer(optimizer, built, sess, clip_norm=clip_norm)]
        if seed is None:
            seed = graph.seed if graph.seed is not None else secrets.randbits(62)
        clip = Clip(constant=_limits(clip_value))
        job = Job(
            GraphAdapter(),
            Parts(
                models=[built.model],
                # The graph has the loss; here it says that there is one.
                criterion=built.model.names.loss,
                operator_class=GraphOperator,
            ),
            optimizers,
            num_replicas=check_num_replicas(workers, context),
            seed=seed,
            sync_stats=False,
            clip=clip,
            context=context,
        )
        return cls(
            job,
            metrics=metrics,
            model_dir=model_dir,
            clip=clip,
            context=context,
            built=built,
            sess=sess,
        )

    def fit(
        self,
        data: Any,
        epochs: int = 1,
        batch_size: int = 32,
        *,
        feed_dict: Mapping[Any, tuple[Any, Any]] | None = None,
        session_config: Any = None,
        **options: Any,
    ) -> History:
        """Train for a number of epochs.

        Parameters
        ----------
        data, epochs, batch_size
            As `EstimatorBase.fit` has them. A tf.data.Dataset has elements of the
            inputs followed by the labels, and is read once.
        feed_dict
            Tensors that get one value in training and another one otherwise.
        session_config
            A ConfigProto for the replicas' sessions.
        **options
            All other arguments of `EstimatorBase.fit`.

        Returns
        -------
        History
            A list with a dict for each epoch.

        Examples
        --------
        >>> from xshards.learn.tf1 import Estimator
        >>> from xshards.learn.tf1.framework import tf
        >>> with tf.Graph().as_default():
        ...     x = tf.placeholder(tf.float32, [None])
        ...     rate = tf.placeholder(tf.float32, [])
        ...     weight = tf.get_variable("weight", [])
        ...     estimator = Estimator.from_graph(
        ...         inputs=x,
        ...         loss=rate * tf.reduce_mean(weight * x),
        ...         optimizer=tf.train.GradientDescentOptimizer(1.0),
        ...         workers=1,
        ...     )
        >>> rows = np.ones(8)
        >>> history = estimator.fit((rows, rows), feed_dict={rate: (0.5, 1.0)})
        >>> history[0]["num_samples"]
        8
        >>> estimator.shutdown()
        """
        self._set_feeds(feed_dict, session_config)
        self._pull()
        if is_dataset(data):
            rows = read_dataset(data, self.sess)
            options.setdefault("shuffle", rows.shuffled)
            data = rows.split(self._num_inputs)
        if is_dataset(options.get("validation_data")):
            options["validation_data"] = self._arrays(options["validation_data"])
        try:
            return super().fit(data, epochs, batch_size, **options)
        finally:
            self._push()

    def evaluate(
        self,
        data: Any,
        batch_size: int = 32,
        num_steps: int | None = None,
        **options: Any,
    ) -> Any:
        """Measure the loss and metrics on data.

        Parameters
        ----------
        data, batch_size, num_steps
            As `EstimatorBase.evaluate` has them.
        **options
            All other arguments of it.

        Returns
        -------
        dict
            num_samples, val_loss and the metrics by their names.

        Examples
        --------
        >>> from xshards.learn.tf1 import Estimator
        >>> from xshards.learn.tf1.framework import tf
        >>> with tf.Graph().as_default():
        ...     x = tf.placeholder(tf.float32, [None])
        ...     y = tf.placeholder(tf.float32, [None])
        ...     largest = {"error": tf.reduce_mean(tf.abs(x - y))}
        ...     estimator = Estimator.from_graph(inputs=x, labels=y, metrics=largest)
        >>> estimator.evaluate((np.ones(8), np.zeros(8)))
        {'num_samples': 8, 'error': 1.0}
        >>> estimator.shutdown()
        """
        self._pull()
        return super().evaluate(self._arrays(data), batch_size, num_steps, **options)

    def predict(
        self,
        data: Any,
        batch_size: int = 32,
        feature_cols: Any = None,
        **options: Any,
    ) -> Any:
        """Apply the graph to data.

        Parameters
        ----------
        data, batch_size, feature_cols
            As `EstimatorBase.predict` has them.
        **options
            All other arguments of it.

        Returns
        -------
        XShards, DataFrame or array
            As of `EstimatorBase.predict`.

        Examples
        --------
        >>> from xshards.learn.tf1 import Estimator
        >>> from xshards.learn.tf1.framework import tf
        >>> with tf.Graph().as_default():
        ...     x = tf.placeholder(tf.int32, [None])
        ...     estimator = Estimator.from_graph(inputs=x, outputs=[x, x + 1])
        >>> estimator.predict(np.arange(2))
        [array([0, 1], dtype=int32), array([1, 2], dtype=int32)]
        >>> estimator.shutdown()
        """
        self._pull()
        return super().predict(self._arrays(data), batch_size, feature_cols, **options)

    def get_model(self) -> Any:
        """Refuse: a graph is in the hands of the user already.

        Raises
        ------
        XShardsNotImplementedError
            Always; see `sess`.
        """
        msg = "a graph is no object to return: its variables are in the session, `sess`"
        raise XShardsNotImplementedError(msg)

    @property
    def _num_inputs(self) -> int:
        return len(self._built.model.names.inputs)

    def _arrays(self, data: Any) -> Any:
        if not is_dataset(data):
            return data
        return read_dataset(data, self.sess).split(self._num_inputs)


def _limits(value: float | tuple[float, float] | None) -> tuple[float, float] | None:
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        low, high = value
        return float(low), float(high)
    return -float(value), float(value)
