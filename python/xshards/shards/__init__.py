# SPDX-License-Identifier: Apache-2.0
"""The class `XShards`: a lazy, partitioned collection of tables, arrays or objects."""

from xshards.shards.xshards import XShards

__all__ = ["XShards"]
