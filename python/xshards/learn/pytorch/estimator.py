# SPDX-License-Identifier: Apache-2.0
"""Trains, evaluates and applies PyTorch models on shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import torch

from xshards.context import default_context
from xshards.errors import XShardsValueError
from xshards.learn.checks import check_precision
from xshards.learn.pytorch.adapter import TorchAdapter
from xshards.learn.pytorch.building import (
    make_loss,
    make_models,
    make_optimizers,
    seeded,
)
from xshards.learn.pytorch.driver_optimizer import TorchOptimizer
from xshards.learn.pytorch.training_operator import TrainingOperator
from xshards.learn.training.clip import Clip
from xshards.learn.training.commands import Parts
from xshards.learn.training.estimator_base import EstimatorBase
from xshards.learn.training.job import Job, check_num_replicas

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.context import Context

__all__ = ["Estimator"]

_BACKENDS = ("ps", "torch_distributed")


class Estimator(EstimatorBase):
    """Trains a PyTorch model on shards with several replicas of it.

    Make one with `from_torch`. Besides shards, DataFrames and arrays its data can be a
    torch DataLoader or Dataset, or a function that makes one.

    Parameters
    ----------
    job, metrics, model_dir, clip, context
        What `from_torch` makes.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch import Estimator
    >>> estimator = Estimator.from_torch(model=torch.nn.Tanh())
    >>> loader = torch.utils.data.DataLoader(torch.zeros(4, 1), batch_size=2)
    >>> estimator.predict(loader).shape
    (4, 1)
    """

    @staticmethod
    def from_torch(
        *,
        model: Any,
        optimizer: Any = None,
        loss: Any = None,
        metrics: Any = None,
        scheduler_creator: Callable[..., Any] | None = None,
        scheduler_step_freq: Literal["batch", "epoch", "manual"] | None = "batch",
        training_operator_cls: type[TrainingOperator] = TrainingOperator,
        initialization_hook: Callable[[], object] | None = None,
        config: dict[str, Any] | None = None,
        use_tqdm: bool | None = None,
        workers: int | None = None,
        workers_per_node: int = 1,
        model_dir: str | None = None,
        sync_stats: bool = False,
        seed: int | None = None,
        backend: Literal["ps", "torch_distributed"] = "ps",
        precision: Literal["fp32", "bf16"] = "fp32",
        context: Context | None = None,
    ) -> Estimator:
        """Make an Estimator of a model, an optimizer and a loss.

        Parameters
        ----------
        model
            A module, or a function that takes `config` and returns one or several.
        optimizer
            A torch optimizer of the model's parameters, one of
            `xshards.learn.optimizers`, or a function that takes the model and `config`.
            Not needed to evaluate and predict.
        loss
            A loss: an instance or a function of outputs and targets; or a function that
            takes `config` and returns one.
        metrics
            What to measure in addition to the loss: names such as
            ``["accuracy", "auc"]``, see `xshards.learn.metrics.metric_names`, or
            objects of `xshards.learn.metrics`.
        scheduler_creator
            A function that takes the optimizer and `config` and returns a scheduler of
            torch.
        scheduler_step_freq
            When the scheduler steps.
        training_operator_cls
            What to do with batches, if not the usual.
        initialization_hook
            Called in every replica before anything else.
        config
            Passed to all functions that make something, and to the operator.
        use_tqdm
            Show a progress bar; one line an epoch where there is neither a terminal nor
            a notebook. By default only where there is one of these.
        workers
            How many replicas; by default `workers_per_node` if that is more than 1, and
            one for each core of the context otherwise.
        model_dir
            Where checkpoints go.
        sync_stats
            Average the buffers of modules (the running statistics of BatchNorm) over
            replicas after each epoch. Otherwise replica 0's are the model's.
        seed
            Repeats shuffling, dropout and the weights a creator draws.
        backend
            ``"ps"``, the parameter server; or ``"torch_distributed"``, torch's
            DistributedDataParallel over gloo, with which the death of a replica ends
            training, and a model whose parameters do not all get a gradient in every
            step needs ``config={"find_unused_parameters": True}``.
        precision
            ``"bf16"`` has the model compute in bfloat16 where torch.autocast does so;
            its parameters stay as they are. Parameters that are bfloat16 or float16
            themselves (``model.bfloat16()``) are trained as they are, by torch's own
            optimizer.
        context
            Where replicas run; by default the one of this process.

        Returns
        -------
        Estimator
            One that has not trained yet; replicas start with the first `fit`.

        Raises
        ------
        XShardsTypeError
            If the model, the optimizer or the loss is none of torch's.
        XShardsValueError
            If `workers` is less than 1, a metric is not known, or `backend`,
            `precision` or `scheduler_step_freq` is none of those above.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> x = np.linspace(0, 1, 64, dtype="float32").reshape(-1, 1)
        >>> model = torch.nn.Linear(1, 1)
        >>> estimator = Estimator.from_torch(
        ...     model=model,
        ...     optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        ...     loss=torch.nn.MSELoss(),
        ...     workers=2,
        ...     seed=0,
        ... )
        >>> shards = xs.XShards.partition({"x": x, "y": 3 * x + 1}, num_shards=4)
        >>> history = estimator.fit(shards, epochs=30, batch_size=16)
        >>> history[-1]["train_loss"] < history[0]["train_loss"] / 10
        True
        >>> estimator.predict(x[:2]).shape
        (2, 1)
        >>> estimator.shutdown()
        """
        if backend not in _BACKENDS:
            msg = f"backend must be one of {', '.join(_BACKENDS)}; got {backend!r}"
            raise XShardsValueError(msg)
        if scheduler_step_freq not in ("batch", "epoch", "manual", None):
            msg = (
                'scheduler_step_freq must be "batch", "epoch" or "manual", got '
                f"{scheduler_step_freq!r}"
            )
            raise XShardsValueError(msg)
        context = context or default_context()
        config = {} if config is None else config
        with seeded(seed):
            models = make_models(model, config)
        parts = Parts(
            models=models,
            criterion=make_loss(loss, config),
            scheduler_creator=scheduler_creator,
            scheduler_step_freq=scheduler_step_freq,
            operator_class=training_operator_cls,
            initialization_hook=initialization_hook,
            config=config,
            use_tqdm=use_tqdm,
            precision=check_precision(precision, TorchAdapter.precisions),
        )
        clip = Clip()
        if workers is None and workers_per_node > 1:
            workers = workers_per_node
        made = make_optimizers(optimizer, models, config)
        job = Job(
            TorchAdapter(),
            parts,
            [TorchOptimizer(one) for one in made],
            num_replicas=check_num_replicas(workers, context),
            seed=torch.initial_seed() % (1 << 63) if seed is None else seed,
            sync_stats=sync_stats,
            clip=clip,
            context=context,
            distributed=backend == "torch_distributed",
        )
        return Estimator(
            job, metrics=metrics, model_dir=model_dir, clip=clip, context=context
        )
