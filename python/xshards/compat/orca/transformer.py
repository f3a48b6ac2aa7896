# SPDX-License-Identifier: Apache-2.0
"""What ``orca.data.transformer`` exports: transformers of XShards of DataFrames."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from xshards import transformer
from xshards.compat.errors import OrcaTypeError
from xshards.compat.exports.data_utils import spark_df_to_pd_sparkxshards
from xshards.compat.orca.shard_base import DATA_FRAME
from xshards.compat.orca.spark_xshards import SparkXShards
from xshards.transformer import StringIndex

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "MinMaxScaler",
    "StandardScaler",
    "StringIndex",
    "StringIndexer",
    "spark_df_to_pd_sparkxshards",
]


class _OnOrcaShards:
    """Takes and gives SparkXShards."""

    def fit(self, shards: Any) -> Self:
        """Learn from shards; returns this transformer."""
        base: Any = super()
        base.fit(_frames(shards))
        return self

    def transform(self, shards: Any) -> Any:
        """Apply what was learnt."""
        _frames(shards)
        # A later fit must not change results that are recomputed.
        learnt: Any = super(_OnOrcaShards, copy.copy(self))
        return shards._of(learnt.transform)


class StringIndexer(_OnOrcaShards, transformer.StringIndexer):
    """Replace values by numbers; see `xshards.transformer.StringIndexer`."""


class MinMaxScaler(_OnOrcaShards, transformer.MinMaxScaler):
    """Scale columns to a range; see `xshards.transformer.MinMaxScaler`."""


class StandardScaler(_OnOrcaShards, transformer.StandardScaler):
    """Scale columns to unit variance; see `xshards.transformer.StandardScaler`."""


def _frames(shards: Any) -> Any:
    if not isinstance(shards, SparkXShards):
        msg = f"expected a SparkXShards, got {type(shards).__name__}"
        raise OrcaTypeError(msg)
    shards._require(DATA_FRAME, "transformers", "Pandas DataFrame")
    return shards._frames()
