# SPDX-License-Identifier: Apache-2.0
"""What every metric on torch tensors is, and how predictions meet targets."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from xshards.errors import XShardsValueError

__all__ = ["TorchMetric", "aligned", "class_scores", "paired"]


class TorchMetric(ABC):
    """A value computed from all predictions and targets seen so far.

    Batches are added by calling it. Replicas that have seen parts of the data send each
    other `state()` and `merge` it: the result is that of one which has seen all.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import MAE
    >>> parts = [MAE(), MAE()]
    >>> for n, part in enumerate(parts):
    ...     part(torch.tensor([1.0, 2.0]), torch.tensor([1.0 + n, 2.0]))
    >>> parts[0].merge(parts[1].state())
    >>> parts[0].compute().item()
    0.25
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name or type(self).__name__
        self.reset()

    def get_name(self) -> str:
        """Return the name that results are listed under.

        Returns
        -------
        str
            The name given, or that of the class.

        Examples
        --------
        >>> from xshards.learn.pytorch.metrics import MAE
        >>> MAE("error").get_name()
        'error'
        """
        return self._name

    @torch.no_grad()
    def __call__(self, preds: Tensor, targets: Tensor) -> None:
        """Add a batch.

        Parameters
        ----------
        preds, targets
            The model's output and the target of a batch: tensors.
        """
        self._add(preds.detach(), targets.detach())

    @abstractmethod
    def _add(self, preds: Tensor, targets: Tensor) -> None: ...

    @abstractmethod
    def compute(self) -> Tensor | tuple[Tensor, ...]:
        """Return the value for what was added.

        Returns
        -------
        Tensor, or tuple of Tensor
            Not a number before anything was added.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch.metrics import MAE
        >>> mae = MAE()
        >>> mae(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        >>> mae.compute().item()
        1.0
        """

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Return the state from which another metric of this class can continue.

        Returns
        -------
        dict of str to Tensor
            Sums and counts.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch.metrics import MAE
        >>> mae = MAE()
        >>> mae(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        >>> {name: value.item() for name, value in mae.state().items()}
        {'sum': 2.0, 'count': 2}
        """

    @abstractmethod
    def merge(self, state: dict[str, Tensor]) -> None:
        """Add what another metric of this class has seen.

        Parameters
        ----------
        state
            What its `state` returned.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch.metrics import MAE
        >>> mae = MAE()
        >>> mae(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        >>> mae.merge(mae.state())
        >>> mae.state()["count"].item()
        4
        """

    @abstractmethod
    def reset(self) -> None:
        """Drop all that was added.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch.metrics import MAE
        >>> mae = MAE()
        >>> mae(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        >>> mae.reset()
        >>> mae.state()["count"].item()
        0
        """

    def _mismatch(self, preds: Tensor, targets: Tensor, expected: str) -> Exception:
        return XShardsValueError(
            f"{self._name}: {expected}; got predictions of shape {tuple(preds.shape)} "
            f"and targets of shape {tuple(targets.shape)}"
        )


def paired(metric: TorchMetric, preds: Tensor, targets: Tensor) -> tuple[Tensor, ...]:
    """Bring predictions and targets of one value each to the same shape.

    (n, 1) against (n,) is the same thing written twice; broadcasting them would compare
    every row with every other.
    """
    if _without_last_one(preds) != _without_last_one(targets):
        expected = "expected one prediction for each target"
        raise metric._mismatch(preds, targets, expected)
    return preds, targets.reshape(preds.shape)


def aligned(metric: TorchMetric, preds: Tensor, targets: Tensor) -> tuple[Tensor, ...]:
    """Check for the same shape with one row or more dimensions, such as one-hot."""
    if preds.shape != targets.shape or preds.ndim < 2:
        expected = "expected a row of targets, such as one-hot, for each of predictions"
        raise metric._mismatch(preds, targets, expected)
    return preds, targets


def class_scores(
    metric: TorchMetric, preds: Tensor, targets: Tensor
) -> tuple[Tensor, Tensor]:
    """Bring scores of classes to (rows, classes) and targets to (rows,) of indices.

    Classes are in dimension 1, as torch's losses have them, or else in the last one.
    """
    if preds.ndim >= 2 and targets.ndim == preds.ndim and targets.shape[-1] == 1:
        targets = targets.squeeze(-1)
    for dim in (1, preds.ndim - 1):
        if preds.ndim >= 2 and targets.shape == _without(preds.shape, dim):
            scores = preds.movedim(dim, -1).reshape(-1, preds.shape[dim])
            return scores, targets.reshape(-1).long()
    expected = "expected a score for each class and a class index for each row"
    raise metric._mismatch(preds, targets, expected)


def _without(shape: torch.Size, dim: int) -> torch.Size:
    return torch.Size([*shape[:dim], *shape[dim + 1 :]])


def _without_last_one(values: Tensor) -> torch.Size:
    shape = values.shape
    return shape[:-1] if values.ndim > 1 and shape[-1] == 1 else shape
