# SPDX-License-Identifier: Apache-2.0
"""Fixtures that the tests of segments share."""

import pytest
from segment_frames import plain

import xshards as xs


@pytest.fixture
def frame():
    return plain()


@pytest.fixture
def shared(frame):
    """The frame in shared segments, as a function's output is."""
    return xs.from_pandas(frame, 2).transform_shard(lambda df: df.copy()).cache()
