# SPDX-License-Identifier: Apache-2.0
"""The settings of a session, as class attributes that are validated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from xshards.compat.errors import OrcaInputError
from xshards.compat.later import not_yet
from xshards.compat.orca import session

if TYPE_CHECKING:
    from xshards.compat.spark.spark_context import SparkContext

__all__ = ["OrcaContext", "ZooContext"]

_BACKENDS = ("spark", "pandas")


def _switch(name: str) -> Any:
    """Make a setting that is True or False."""

    def get(_cls: type) -> bool:
        return bool(_settings[name])

    def put(_cls: type, value: object) -> None:
        if not isinstance(value, bool):
            msg = f"{name} should either be True or False, got {value!r}"
            raise OrcaInputError(msg)
        _settings[name] = value

    return property(get, put)


_settings: dict[str, Any] = {
    "pandas_read_backend": "spark",
    "_eager_mode": True,
    "_shard_size": None,
    "serialize_data_creator": False,
    "train_data_store": "DRAM",
    "log_output": False,
    "barrier_mode": True,
}


class _Settings(type):
    _eager_mode = _switch("_eager_mode")
    serialize_data_creator = _switch("serialize_data_creator")
    log_output = _switch("log_output")
    barrier_mode = _switch("barrier_mode")

    @property
    def pandas_read_backend(cls) -> str:
        return str(_settings["pandas_read_backend"])

    @pandas_read_backend.setter
    def pandas_read_backend(cls, value: str) -> None:
        wanted = value.lower() if isinstance(value, str) else value
        if wanted not in _BACKENDS:
            msg = f"pandas_read_backend must be either spark or pandas, got {value!r}"
            raise OrcaInputError(msg)
        _settings["pandas_read_backend"] = wanted

    @property
    def _shard_size(cls) -> int | None:
        return _settings["_shard_size"]  # type: ignore[no-any-return]

    @_shard_size.setter
    def _shard_size(cls, value: int | None) -> None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (whole and value > 0):
            msg = (
                f"shard size should be either None or a positive integer, got {value!r}"
            )
            raise OrcaInputError(msg)
        _settings["_shard_size"] = value

    @property
    def train_data_store(cls) -> str:
        return str(_settings["train_data_store"])

    @train_data_store.setter
    def train_data_store(cls, value: str) -> None:
        wanted = value.upper() if isinstance(value, str) else ""
        if not re.fullmatch(r"DRAM|PMEM|DISK_[1-9][0-9]*", wanted):
            msg = f"train_data_store must be DRAM, PMEM or DISK_n, got {value!r}"
            raise OrcaInputError(msg)
        _settings["train_data_store"] = wanted


class OrcaContext(metaclass=_Settings):
    """The settings of a session, and what is active in it.

    ``pandas_read_backend`` ("spark" or "pandas") chooses the reader of CSV and JSON
    files; ``_eager_mode`` whether shards are computed and kept when they are made;
    ``_shard_size`` the rows of a shard that estimators make of a DataFrame. The others
    (``serialize_data_creator``, ``train_data_store``, ``log_output``, ``barrier_mode``)
    are checked and kept for estimators.

    Examples
    --------
    >>> OrcaContext.pandas_read_backend
    'spark'
    >>> OrcaContext._shard_size = 0
    Traceback (most recent call last):
        ...
    xshards.compat.errors.OrcaInputError: shard size should be either None or a positive
    integer, got 0
    """

    @staticmethod
    def get_spark_context() -> SparkContext:
        """Give the active context; an error if there is none."""
        active = session.active()
        if active is None:
            msg = (
                "No active SparkContext. Please create a SparkContext first, by "
                "init_orca_context()"
            )
            raise OrcaInputError(msg)
        return active

    @staticmethod
    def get_sql_context() -> NoReturn:
        """Not there yet."""
        name = "OrcaContext.get_sql_context"
        raise not_yet(name, "Spark DataFrames")

    @staticmethod
    def get_spark_session() -> NoReturn:
        """Not there yet."""
        name = "OrcaContext.get_spark_session"
        raise not_yet(name, "Spark DataFrames")

    @staticmethod
    def get_ray_context() -> NoReturn:
        """Not there yet."""
        name = "OrcaContext.get_ray_context"
        raise not_yet(name, "clusters")


class _OldSettings(_Settings):
    """The settings by the names they had in Analytics Zoo."""

    orca_pandas_read_backend = _Settings.pandas_read_backend
    orca_eager_mode = _Settings._eager_mode


class ZooContext(metaclass=_OldSettings):
    """`OrcaContext` by its older name."""
