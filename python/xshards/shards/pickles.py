# SPDX-License-Identifier: Apache-2.0
"""Shards to pickle files and back; nothing is unpickled before its seal is checked."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from xshards import _core
from xshards.context import Context, default_context
from xshards.io import sealed_pickle as _sealed_files
from xshards.runtime.convert import to_payload
from xshards.shards.base import Base

if TYPE_CHECKING:
    import os
    from typing import Self

__all__ = ["Pickles"]


class Pickles(Base):
    """Save shards of any kind, and load them."""

    def save_pickle(
        self,
        path: str | os.PathLike[str],
        batchSize: int = 10,
        *,
        key: bytes | str | None = None,
    ) -> Self:
        """Write one pickle file per partition, sealed so that only you can load it.

        Unpickling runs code, so a file is sealed with a key (HMAC-SHA256) and
        `load_pickle` refuses one that is not. Files are written to a temporary
        directory, which is renamed when all are complete; a failed write leaves nothing
        there.

        Parameters
        ----------
        path : path
            The directory to write; it must be new, or empty.
        batchSize : int
            Accepted for old scripts; has no effect.
        key : bytes or str, optional
            The key. By default a secret of yours, made on first use and kept in
            ``~/.config/xshards/pickle.key`` (or under ``$XDG_CONFIG_HOME``); give one
            to load the files on another machine or as another user.

        Returns
        -------
        XShards
            These shards.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> shards = xs.partition({"x": np.arange(3)}, 2)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = pathlib.Path(directory, "shards")
        ...     _ = shards.save_pickle(path, key="secret")
        ...     xs.XShards.load_pickle(path, key="secret").collect()
        [{'x': array([0, 1])}, {'x': array([2])}]
        """
        secret = _sealed_files.as_key(key)
        with _sealed_files.staged(Path(path)) as staging:
            label = _sealed_files.Label(secrets.token_hex(8), self.num_partitions())
            self._transform_payloads(
                _sealed_files.write, self._shard_info(), str(staging), label, secret
            ).compute()
        return self

    @classmethod
    def load_pickle(
        cls,
        path: str | os.PathLike[str],
        minPartitions: int | None = None,
        *,
        key: bytes | str | None = None,
        context: Context | None = None,
    ) -> Self:
        """Load shards written by `save_pickle`, one partition per file.

        Parameters
        ----------
        path : path
            The directory.
        minPartitions : int, optional
            Spread the data over this many partitions if there are fewer files.
        key : bytes or str, optional
            The key the files were sealed with; your own by default.
        context : Context, optional
            Where to run; the session's by default.

        Returns
        -------
        XShards

        Raises
        ------
        FileNotFoundError
            If there is no such directory, or one of its files is gone.
        ValueError
            If a file was not written by `save_pickle`, was changed since, or was sealed
            with another key. Nothing of it is unpickled.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = pathlib.Path(directory, "shards")
        ...     _ = xs.partition(np.arange(4), 2).save_pickle(path, key="secret")
        ...     print(xs.XShards.load_pickle(path, key="secret").collect())
        [array([0, 1]), array([2, 3])]
        """
        where = context or default_context()
        secret = _sealed_files.as_key(key)
        files = _sealed_files.listed(Path(path))
        payloads = [[to_payload(str(file))] for file in files]
        core = _core.XShards.from_payloads(where._core, payloads)
        loaded = cls(core, where)._transform_payloads(_sealed_files.read, secret)
        if minPartitions is not None and minPartitions > len(files):
            return loaded.repartition(minPartitions)
        return loaded
