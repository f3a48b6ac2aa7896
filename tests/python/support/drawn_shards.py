# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of payload ops."""

import numpy as np
from hypothesis import strategies as st
from shard_values import (
    map_leaves,
    nests,
    shards_of,
)


@st.composite
def array_shards(draw):
    """Draw shards of nested arrays, uneven and empty ones among them."""
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    whole = draw(nests(sum(sizes)))
    ends = np.cumsum(sizes)
    held = [
        map_leaves(lambda a, end=end, size=size: a[end - size : end], whole)
        for end, size in zip(ends, sizes, strict=True)
    ]
    return shards_of(held), held, whole
