# SPDX-License-Identifier: Apache-2.0
"""Gradient clipping of an Estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xshards.errors import XShardsValueError

if TYPE_CHECKING:
    from xshards.learn.training.clip import Clip

__all__ = ["ClipMethods"]


class ClipMethods:
    """Methods of an Estimator that limit gradients."""

    _clip: Clip

    def set_constant_gradient_clipping(self, min: float, max: float) -> None:
        """Limit every element of the gradient to an interval, from the next fit on.

        Parameters
        ----------
        min, max
            The interval.

        Raises
        ------
        XShardsValueError
            If `min` is more than `max`.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> estimator.set_constant_gradient_clipping(-1.0, 1.0)
        """
        if min > max:
            msg = f"min must be at most max, got {min} and {max}"
            raise XShardsValueError(msg)
        self._clip.constant = (float(min), float(max))

    def set_l2_norm_gradient_clipping(self, clip_norm: float) -> None:
        """Limit the L2 norm of the whole gradient, from the next fit on.

        Parameters
        ----------
        clip_norm
            The largest norm.

        Raises
        ------
        XShardsValueError
            If it is not more than 0.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> estimator.set_l2_norm_gradient_clipping(10.0)
        """
        if clip_norm <= 0:
            msg = f"clip_norm must be more than 0, got {clip_norm}"
            raise XShardsValueError(msg)
        self._clip.norm = float(clip_norm)

    def clear_gradient_clipping(self) -> None:
        """Stop clipping gradients, from the next fit on.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> estimator.set_l2_norm_gradient_clipping(10.0)
        >>> estimator.clear_gradient_clipping()
        """
        self._clip.constant = self._clip.norm = None
