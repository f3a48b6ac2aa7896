# SPDX-License-Identifier: Apache-2.0
"""Event files for TensorBoard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xshards.errors import XShardsRuntimeError, XShardsValueError
from xshards.learn.training.summaries.event_files import read_scalar

if TYPE_CHECKING:
    import os

__all__ = ["SummaryMethods"]

_TRAIN_TAGS = ("Loss", "LearningRate", "Throughput")


class SummaryMethods:
    """Methods of an Estimator for TensorBoard."""

    _log_dir: Path | None = None

    def set_tensorboard(self, log_dir: str | os.PathLike[str], app_name: str) -> None:
        """Write what training and validation give to event files from now on.

        Parameters
        ----------
        log_dir, app_name
            Files are in ``log_dir/app_name/train`` and ``log_dir/app_name/validation``.

        Examples
        --------
        >>> import tempfile
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> estimator.set_tensorboard(tempfile.mkdtemp(), "first")
        """
        self._log_dir = Path(log_dir, app_name)

    def get_train_summary(self, tag: str = "Loss") -> list[list[int | float]]:
        """Read a value of each update from the event files.

        Parameters
        ----------
        tag
            "Loss", "LearningRate" or "Throughput" (rows a second).

        Returns
        -------
        list of [int, float, float]
            Iteration, value and time.

        Raises
        ------
        XShardsRuntimeError
            If `set_tensorboard` was not called.
        XShardsValueError
            If the tag is another.

        Examples
        --------
        >>> import tempfile
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> model = torch.nn.Linear(1, 1)
        >>> estimator = Estimator.from_torch(
        ...     model=model,
        ...     optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        ...     loss=torch.nn.MSELoss(),
        ...     workers=1,
        ... )
        >>> estimator.set_tensorboard(tempfile.mkdtemp(), "first")
        >>> x = np.ones((8, 1), dtype="float32")
        >>> history = estimator.fit({"x": x, "y": x}, batch_size=2)
        >>> [row[0] for row in estimator.get_train_summary("Loss")]
        [1, 2, 3, 4]
        >>> estimator.shutdown()
        """
        if tag not in _TRAIN_TAGS:
            msg = f"tag must be one of {', '.join(_TRAIN_TAGS)}; got {tag!r}"
            raise XShardsValueError(msg)
        return self._read("train", tag)

    def get_validation_summary(self, tag: str = "Loss") -> list[list[int | float]]:
        """Read a value of each validation from the event files.

        Parameters
        ----------
        tag
            "Loss" or the name of a metric.

        Returns
        -------
        list of [int, float, float]
            Iteration, value and time.

        Raises
        ------
        XShardsRuntimeError
            If `set_tensorboard` was not called.

        Examples
        --------
        >>> import tempfile
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> model = torch.nn.Linear(1, 1)
        >>> estimator = Estimator.from_torch(
        ...     model=model,
        ...     optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        ...     loss=torch.nn.MSELoss(),
        ...     workers=1,
        ... )
        >>> estimator.set_tensorboard(tempfile.mkdtemp(), "first")
        >>> x = np.ones((8, 1), dtype="float32")
        >>> history = estimator.fit({"x": x, "y": x}, validation_data=(x, x))
        >>> [row[0] for row in estimator.get_validation_summary("Loss")]
        [1]
        >>> estimator.shutdown()
        """
        return self._read("validation", tag)

    def _read(self, part: str, tag: str) -> list[list[int | float]]:
        if self._log_dir is None:
            msg = "there is no summary: call set_tensorboard before fit"
            raise XShardsRuntimeError(msg)
        return read_scalar(self._log_dir / part, tag)
