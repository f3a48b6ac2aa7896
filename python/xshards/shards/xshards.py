# SPDX-License-Identifier: Apache-2.0
"""The public class: a lazy partitioned dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards._util.public_names import name_methods
from xshards.shards.actions import Actions
from xshards.shards.aggregation import Aggregation
from xshards.shards.analysis import Analysis
from xshards.shards.cleaning import Cleaning
from xshards.shards.display import Display
from xshards.shards.exchange_ops import ExchangeOps
from xshards.shards.exports import Exports
from xshards.shards.extremes import Extremes
from xshards.shards.group_by import GroupBy
from xshards.shards.merge import Merge
from xshards.shards.object_keys import ObjectKeys
from xshards.shards.orca_methods import OrcaMethods
from xshards.shards.payload_ops import PayloadOps
from xshards.shards.pickles import Pickles
from xshards.shards.reductions import Reductions
from xshards.shards.row_ops import RowOps
from xshards.shards.sort_ops import SortOps
from xshards.shards.transform import Transform
from xshards.shards.writers import Writers

if TYPE_CHECKING:
    from xshards.context import Context

__all__ = ["XShards"]


class XShards(
    RowOps,
    Transform,
    ExchangeOps,
    SortOps,
    GroupBy,
    Merge,
    PayloadOps,
    Cleaning,
    Analysis,
    Reductions,
    Aggregation,
    Extremes,
    OrcaMethods,
    Actions,
    Exports,
    Writers,
    Pickles,
    Display,
    ObjectKeys,
):
    """A dataset in partitions, and the plan that computes them.

    Made by `read_csv`, `read_json`, `read_parquet`, `from_pandas`, `from_arrow` and
    `partition`. A partition holds rows, which functions see as a DataFrame; or arrays,
    alone or nested in dicts, lists and tuples; or other Python objects.
    Methods such as `filter`, `group_by` and `transform_shard` only add to the recipe
    and return new shards. It runs, in parallel, when an action asks for a result:
    `to_pandas`, `collect`, `count`, ``len``, `unique`, `cache`, `to_parquet` and the
    like.

    Examples
    --------
    >>> shards = xs.from_pandas(
    ...     pd.DataFrame({"city": ["Rome", "Oslo", "Rome"], "t": [31.0, 19.0, 28.0]}),
    ...     num_partitions=2,
    ... )
    >>> warm = shards.filter(xs.col("t") > 20).with_column("f", xs.col("t") * 1.8 + 32)
    >>> warm.group_by("city", {"f": "max"}).to_pandas()
       city  max(f)
    0  Rome    87.8
    """

    @staticmethod
    def partition(
        data: Any, num_shards: int | None = None, *, context: Context | None = None
    ) -> XShards:
        """Cut arrays into shards; this is `xshards.partition`.

        Parameters
        ----------
        data, num_shards, context
            See `xshards.partition`.

        Returns
        -------
        XShards

        Examples
        --------
        >>> xs.XShards.partition(np.arange(5), 2).collect()
        [array([0, 1, 2]), array([3, 4])]
        """
        from xshards.io.memory import partition

        return partition(data, num_shards, context=context)


name_methods(XShards, "XShards")
