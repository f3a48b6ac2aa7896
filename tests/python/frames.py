# SPDX-License-Identifier: Apache-2.0
"""Random frames for property tests, and comparison with pandas."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

text = st.text(
    alphabet=st.characters(
        codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"
    ),
    max_size=6,
)
integers = st.integers(-(2**53), 2**53)
small = st.integers(-3, 3)
floats = st.one_of(
    st.sampled_from([np.nan, 0.0, -0.0, 1.5, -2.25]),
    st.floats(-1e6, 1e6, allow_nan=False, width=32),
)
keys = st.sampled_from(["", "a", "b", "é", "日本", None])
num_partitions = st.integers(1, 5)


@st.composite
def frames(draw, min_rows=0, max_rows=25):
    """Draw a frame with keys that repeat, numbers and text, some of it missing."""
    rows = draw(st.integers(min_rows, max_rows))

    def column(values):
        return draw(st.lists(values, min_size=rows, max_size=rows))

    return pd.DataFrame(
        {
            "k": pd.Series(column(keys), dtype="str"),
            "n": pd.Series(column(small), dtype="int64"),
            "i": pd.Series(column(integers), dtype="int64"),
            "f": pd.Series(column(floats), dtype="float64"),
            "s": pd.Series(column(st.none() | text), dtype="str"),
            "b": pd.Series(column(st.booleans()), dtype="bool"),
        }
    )


def assert_same(actual, expected, *, ignore_order=False, **options):
    """Compare frames as pandas sees them: values, dtypes, column order and index."""
    if ignore_order:
        actual, expected = in_order(actual), in_order(expected)
    pd.testing.assert_frame_equal(actual, expected, **options)


def in_order(frame):
    """Sort rows by everything, so that only the content counts."""
    frame = frame.reset_index(drop=True)
    keys = pd.DataFrame(
        {
            name: column.map(repr) if column.dtype == object else column
            for name, column in frame.items()
        }
    )
    if len(frame) == 0:
        return frame
    order = keys.sort_values(list(keys.columns), kind="stable").index
    return frame.loc[order].reset_index(drop=True)
