# SPDX-License-Identifier: Apache-2.0
"""Saving and loading an Estimator."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsFileNotFoundError
from xshards.learn.training.checkpoints import files as checkpoints
from xshards.learn.training.checkpoints.sealed_model import (
    is_sealed,
    load_model,
    save_model,
)
from xshards.learn.training.checkpoints.state import (
    load_state,
    read_file,
    state_of,
    write_file,
)

if TYPE_CHECKING:
    from xshards.learn.training.job import Job

__all__ = ["CheckpointMethods", "write_checkpoint"]

Path_ = str | os.PathLike[str]
_IN_MODEL_FILE = ("models", "epoch")


def write_checkpoint(job: Job, checkpoint: checkpoints.Checkpoint) -> None:
    """Write the two files of a checkpoint, the model's last."""
    state = state_of(job)
    rest = {name: one for name, one in state.items() if name not in _IN_MODEL_FILE}
    model = {name: state[name] for name in _IN_MODEL_FILE}
    write_file(job.adapter, rest, checkpoint.optimizer)
    write_file(job.adapter, model, checkpoint.model)


class CheckpointMethods:
    """Methods of an Estimator that save and load its state."""

    _job: Job

    def get_state_dict(self) -> dict[str, Any]:
        """Copy all that is needed to go on: epoch, models, optimizers, schedulers.

        Returns
        -------
        dict
            Plain values and tensors, for `load_state_dict`.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> state = estimator.get_state_dict()
        >>> state["epoch"], list(state["models"][0])
        (0, ['weight', 'bias'])
        """
        return state_of(self._job)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `get_state_dict` returned.

        Parameters
        ----------
        state_dict
            All of it or a part, such as ``{"models": [...]}``.

        Raises
        ------
        XShardsValueError
            If it has another number of models or optimizers.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> other = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> other.load_state_dict(estimator.get_state_dict())
        """
        load_state(self._job, state_dict)

    def save(
        self,
        checkpoint: Path_,
        entire: bool = False,  # noqa: FBT001 - as in Orca
        *,
        key: bytes | str | None = None,
    ) -> str:
        """Write the state of models and optimizers to a file.

        Parameters
        ----------
        checkpoint
            The file.
        entire
            Write the whole model, with its classes, instead: `load` then needs no model
            of the same kind. Loading runs code, so the file is sealed with `key` and
            refused if it was changed since; see `XShards.save_pickle`.
        key
            What a whole model is sealed with; by default this user's own key.

        Returns
        -------
        str
            The file.

        Examples
        --------
        >>> import tempfile
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> file = estimator.save(tempfile.mkdtemp() + "/state")
        >>> estimator.load(file)
        """
        if entire:
            save_model(self._job.adapter, self._job.parts.models, checkpoint, key)
        else:
            write_file(self._job.adapter, state_of(self._job), checkpoint)
        return str(checkpoint)

    def load(
        self, checkpoint: Path_, loss: Any = None, *, key: bytes | str | None = None
    ) -> None:
        """Read what `save` wrote, or the framework's own file of the model's state.

        Parameters
        ----------
        checkpoint
            The file.
        loss
            A new loss, if another one is to be used from now on.
        key
            What a whole model was sealed with.

        Raises
        ------
        XShardsFileNotFoundError
            If there is no such file.
        XShardsValueError
            If the file holds anything but weights and plain values, or was changed
            since it was sealed.

        Examples
        --------
        >>> import tempfile
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> model = torch.nn.Linear(2, 1)
        >>> file = tempfile.mkdtemp() + "/weights.pt"
        >>> torch.save(model.state_dict(), file)
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> estimator.load(file)
        >>> bool((estimator.get_model().weight == model.weight).all())
        True
        """
        if not Path(checkpoint).is_file():
            msg = f"there is no file {checkpoint} to load"
            raise XShardsFileNotFoundError(msg)
        if is_sealed(checkpoint):
            loaded, adapter = load_model(checkpoint, key), self._job.adapter
            self._job.stop_replicas()
            own = self._job.parts.models
            if [type(one) for one in own] == [type(one) for one in loaded]:
                for model, other in zip(own, loaded, strict=True):
                    adapter.load_model_state(model, adapter.model_state(other))
            else:
                self._job.replace_models(loaded)
        else:
            state = read_file(self._job.adapter, checkpoint)
            load_state(self._job, state if "models" in state else {"models": [state]})
        if loss is not None:
            self._job.stop_replicas()
            parts = self._job.parts
            parts.criterion = self._job.adapter.make_loss(loss, parts.config)

    def save_checkpoint(self, model_path: Path_) -> None:
        """Write all that is needed to go on from here to a file.

        Parameters
        ----------
        model_path
            The file. A crash leaves the old one or the new one.

        Examples
        --------
        >>> import tempfile
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> estimator.save_checkpoint(tempfile.mkdtemp() + "/state")
        """
        write_file(self._job.adapter, state_of(self._job), model_path)

    def load_checkpoint(self, model_path: Path_) -> None:
        """Go on from what `save_checkpoint` wrote.

        Parameters
        ----------
        model_path
            The file.

        Raises
        ------
        XShardsFileNotFoundError
            If there is no such file.
        XShardsValueError
            If the file holds anything but weights and plain values.

        Examples
        --------
        >>> import tempfile
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> file = tempfile.mkdtemp() + "/state"
        >>> estimator.save_checkpoint(file)
        >>> estimator.load_checkpoint(file)
        """
        load_state(self._job, read_file(self._job.adapter, model_path))

    def load_orca_checkpoint(
        self, path: Path_, version: int | None = None, prefix: str | None = None
    ) -> None:
        """Go on from a checkpoint that `fit` wrote to `model_dir`.

        Parameters
        ----------
        path
            `model_dir`, or one of the directories in it.
        version
            The iteration; by default the newest.
        prefix
            The prefix of the optimizer's file, if there are several.

        Raises
        ------
        XShardsFileNotFoundError
            If there is no complete checkpoint.
        XShardsValueError
            If there is none of this iteration.

        Examples
        --------
        >>> import tempfile
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> folder = tempfile.mkdtemp()
        >>> model = torch.nn.Linear(1, 1)
        >>> estimator = Estimator.from_torch(
        ...     model=model,
        ...     optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        ...     loss=torch.nn.MSELoss(),
        ...     model_dir=folder,
        ...     workers=1,
        ... )
        >>> x = np.ones((8, 1), dtype="float32")
        >>> history = estimator.fit(
        ...     {"x": x, "y": x}, batch_size=2, checkpoint_trigger="everyepoch"
        ... )
        >>> estimator.load_orca_checkpoint(folder, version=4)
        >>> estimator.shutdown()
        """
        found = checkpoints.find_checkpoint(path, version, prefix)
        rest, model = (
            read_file(self._job.adapter, one) for one in (found.optimizer, found.model)
        )
        load_state(self._job, {**rest, **model})

    @staticmethod
    def latest_checkpoint(checkpoint_dir: Path_) -> str:
        """Name the newest checkpoint file in a directory.

        Parameters
        ----------
        checkpoint_dir
            Where `fit` or the callback `ModelCheckpoint` wrote checkpoints.

        Returns
        -------
        str
            The file of the model.

        Raises
        ------
        XShardsFileNotFoundError
            If there is none.

        Examples
        --------
        >>> import pathlib
        >>> import tempfile
        >>> from xshards.learn.pytorch import Estimator
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "net-epoch=3.ckpt").touch()
        >>> pathlib.Path(Estimator.latest_checkpoint(folder)).name
        'net-epoch=3.ckpt'
        """
        return checkpoints.latest_checkpoint(checkpoint_dir)
