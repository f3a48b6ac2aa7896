# SPDX-License-Identifier: Apache-2.0
"""Random shards of every kind, and comparison of whatever they hold."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import xshards as xs

dtypes = st.sampled_from(["<f4", "<f8", "<i8", "|u1", "|b1", "<U3", "<M8[ns]", "<c16"])


@st.composite
def arrays(draw, rows, max_dims=2):
    """Draw an array of this many rows, of any dtype and shape, some of it empty."""
    shape = [rows, *draw(st.lists(st.integers(0, 3), max_size=max_dims))]
    size = int(np.prod(shape))
    values = np.arange(size) + draw(st.integers(-3, 3))
    return values.astype(draw(dtypes)).reshape(shape)


@st.composite
def nests(draw, rows, depth=2):
    """Draw arrays of one length, nested in dicts, lists and tuples."""
    kind = draw(
        st.sampled_from(["array", "dict", "list", "tuple"] if depth else ["array"])
    )
    if kind == "array":
        return draw(arrays(rows))
    parts = draw(st.lists(nests(rows, depth - 1), min_size=1, max_size=3))
    match kind:
        case "dict":
            return {f"é{i}": part for i, part in enumerate(parts)}
        case "list":
            return parts
    return tuple(parts)


#: Values that are neither frames nor arrays.
objects = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=4),
    st.lists(st.integers(0, 9), max_size=4),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=3),
    st.tuples(st.integers(), st.text(max_size=2)),
    st.sets(st.integers(0, 9), max_size=3),
)


def shards_of(values, counts=None):
    """Put values in partitions: `counts` of them in each, or one in each."""
    counts = [1] * len(values) if counts is None else counts
    rest = iter(values)
    held = [[next(rest) for _ in range(count)] for count in counts]
    numbers = xs.partition([[number] for number in range(len(held))], len(held))
    return numbers._transform_payloads(_give, held)


def _give(partition, _payloads, held):
    from xshards.runtime.convert import to_payload

    return [to_payload(value) for value in held[partition]]


def assert_equal(actual, expected):
    """Compare values with their types, dtypes and shapes, however they are nested."""
    assert type(actual) is type(expected), (actual, expected)
    if isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        np.testing.assert_array_equal(actual, expected)
    elif isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(actual, expected)
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(actual, expected)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            assert_equal(actual[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_equal(one, other)
    else:
        assert actual == expected


def map_leaves(function, value):
    """Apply a function to every array of a nest."""
    if isinstance(value, dict):
        return {key: map_leaves(function, part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map_leaves(function, part) for part in value)
    return function(value)


def array_split(value, count):
    """Cut a nest of arrays as numpy.array_split cuts each."""
    return [
        map_leaves(lambda a, i=i: np.array_split(a, count)[i], value)
        for i in range(count)
    ]
