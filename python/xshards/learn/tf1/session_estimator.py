# SPDX-License-Identifier: Apache-2.0
"""An Estimator whose variables are in the user's session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsRuntimeError
from xshards.learn.tf1.building import fixed_feed
from xshards.learn.tf1.framework import tf
from xshards.learn.training.estimator_base import EstimatorBase

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from xshards.context import Context
    from xshards.learn.tf1.building import Built
    from xshards.learn.training.clip import Clip
    from xshards.learn.training.job import Job

__all__ = ["SessionEstimator"]


class SessionEstimator(EstimatorBase):
    """Takes values from a session before each call, and puts them there afterwards."""

    def __init__(
        self,
        job: Job,
        *,
        metrics: Any,
        model_dir: str | None,
        clip: Clip,
        context: Context,
        built: Built,
        sess: Any,
    ) -> None:
        super().__init__(
            job, metrics=metrics, model_dir=model_dir, clip=clip, context=context
        )
        self._built = built
        self._saver: Any = None
        #: The session that has the variables.
        self.sess = sess

    def save_tf_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Write the session's variables as tf.train.Saver does.

        Parameters
        ----------
        path
            Where; several files begin with it.
        """
        with self.sess.graph.as_default():
            self._tf_saver().save(self.sess, str(path))

    def load_tf_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Read what `save_tf_checkpoint` or a tf.train.Saver wrote.

        Parameters
        ----------
        path
            As it was given to the former.
        """
        with self.sess.graph.as_default():
            self._tf_saver().restore(self.sess, str(path))
        self._pull()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `get_state_dict` returned.

        Parameters
        ----------
        state_dict
            All of it or a part.
        """
        super().load_state_dict(state_dict)
        self._push()

    def load(
        self, checkpoint: str | os.PathLike[str], loss: Any = None, **options: Any
    ) -> None:
        """Read what `save` wrote.

        Parameters
        ----------
        checkpoint
            The file.
        loss, **options
            As `EstimatorBase.load` has them.
        """
        super().load(checkpoint, loss, **options)
        self._push()

    def load_checkpoint(self, model_path: str | os.PathLike[str]) -> None:
        """Go on from what `save_checkpoint` wrote.

        Parameters
        ----------
        model_path
            The file.
        """
        super().load_checkpoint(model_path)
        self._push()

    def load_orca_checkpoint(
        self,
        path: str | os.PathLike[str],
        version: int | None = None,
        prefix: str | None = None,
    ) -> None:
        """Go on from a checkpoint that `fit` wrote to `model_dir`.

        Parameters
        ----------
        path, version, prefix
            As `EstimatorBase.load_orca_checkpoint` has them.
        """
        super().load_orca_checkpoint(path, version, prefix)
        self._push()

    def _set_feeds(
        self, feeds: Mapping[Any, tuple[Any, Any]] | None, config: Any
    ) -> None:
        """Change what replicas feed and run with; they start anew if it is new."""
        model = self._built.model
        if feeds is not None:
            fixed = [fixed_feed(tensor, values) for tensor, values in feeds.items()]
            kept = {one.name for one in fixed}
            own = [one for one in model.names.fixed if one.name not in kept]
            model.names.fixed = own + fixed
            self._job.stop_replicas()
        encoded = None if config is None else config.SerializeToString()
        if encoded is not None and encoded != model.config:
            model.config = encoded
            self._job.stop_replicas()

    def _tf_saver(self) -> Any:
        if self._saver is None:
            self._saver = tf.train.Saver()
        return self._saver

    def _pull(self) -> None:
        if self.sess._closed:
            msg = "the session was closed; an Estimator of a graph needs it open"
            raise XShardsRuntimeError(msg)
        if self._built.pull(self.sess):
            self._job.stop_replicas()

    def _push(self) -> None:
        if not self.sess._closed:
            self._built.push(self.sess)
