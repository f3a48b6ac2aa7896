# SPDX-License-Identifier: Apache-2.0
"""Random frames for property tests, and comparison with pandas."""

import datetime
import decimal

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


def _values(cells, dtype):
    return lambda draw, rows: pd.Series(
        draw(st.lists(cells, min_size=rows, max_size=rows)), dtype=dtype
    )


def _objects(cells):
    def make(draw, rows):
        drawn = draw(st.lists(cells, min_size=rows, max_size=rows))
        return pd.Series(np.fromiter(drawn, object, rows), dtype=object)

    return make


def _times(dtype):
    seconds = st.none() | st.integers(-(10**9), 10**9)

    def make(draw, rows):
        drawn = draw(st.lists(seconds, min_size=rows, max_size=rows))
        kind = np.dtype("M8[s]") if "datetime" in dtype else np.dtype("m8[s]")
        cells = [
            kind.type("NaT", "s") if s is None else kind.type(s, "s") for s in drawn
        ]
        plain = pd.Series(np.array(cells, dtype=kind))
        if "," in dtype:
            plain = plain.dt.tz_localize("UTC")
        return plain.astype(dtype)

    return make


def _periods(draw, rows):
    months = st.none() | st.integers(0, 24)
    drawn = draw(st.lists(months, min_size=rows, max_size=rows))
    cells = [pd.NaT if m is None else pd.Period(ordinal=m, freq="M") for m in drawn]
    return pd.Series(pd.PeriodIndex(cells, freq="M"))


def _intervals(draw, rows):
    drawn = draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))
    left = np.array(drawn, dtype=np.int64)
    return pd.Series(pd.arrays.IntervalArray.from_arrays(left, left + 1))


def _categories(categories, *, ordered):
    dtype = pd.CategoricalDtype(categories, ordered=ordered)
    return _values(st.none() | st.sampled_from(list(categories)[:-1]), dtype)


_DAYS = pd.to_datetime(["2024-01-03", "2024-01-01", "2024-01-02"])
_numbers = st.integers(-100, 100)
_decimals = st.integers(-(10**6), 10**6).map(lambda n: decimal.Decimal(n) / 100)
_ragged = st.lists(_numbers, max_size=3)

#: Columns of every kind: name -> function(draw, rows). Those in TYPED have values that
#: can be keys of groups and joins; PICKLED ones are opaque to the engine.
TYPED = {
    "int8": _values(_numbers, "int8"),
    "uint64": _values(st.integers(0, 2**64 - 1), "uint64"),
    "float32": _values(st.floats(width=32, allow_infinity=False), "float32"),
    "Int64": _values(st.none() | integers, "Int64"),
    "UInt8": _values(st.none() | st.integers(0, 255), "UInt8"),
    "Float64": _values(st.none() | st.sampled_from([0.5, -1.5, 2.0]), "Float64"),
    "boolean": _values(st.none() | st.booleans(), "boolean"),
    "string": _values(st.none() | text, "string"),
    "category": _categories(["é", "b", "a", "unused"], ordered=False),
    "category-ordered": _categories(["z", "b", "a", "unused"], ordered=True),
    "category-int": _categories([3, 1, 2, 0], ordered=False),
    "category-time": _categories(_DAYS, ordered=True),
    "datetime64[s]": _times("datetime64[s]"),
    "datetime64[ns]": _times("datetime64[ns]"),
    "datetime64[us, tz]": _times("datetime64[us, Europe/Berlin]"),
    "timedelta64[ms]": _times("timedelta64[ms]"),
    "period": _periods,
    "object-str": _objects(st.none() | text),
    "object-bool": _objects(st.sampled_from([True, False, np.nan])),
    "object-date": _objects(st.none() | st.dates(datetime.date(1, 1, 1))),
    "object-decimal": _objects(st.none() | _decimals),
    "object-none": _objects(st.none()),
}
NESTED = {
    "float16": _values(_numbers.map(lambda n: n / 4), "float16"),
    "complex128": _values(st.complex_numbers(max_magnitude=10), "complex128"),
    "interval": _intervals,
    "object-bytes": _objects(st.none() | st.binary(max_size=4)),
    "object-list": _objects(st.none() | _ragged),
    "object-dict": _objects(st.none() | st.fixed_dictionaries({"a": _numbers})),
    "ndarray": _objects(st.none() | st.tuples(_numbers, _numbers).map(np.array)),
    "ndarray-ragged": _objects(_ragged.map(lambda c: np.array(c, dtype=np.int64))),
}
PICKLED = {
    "object-mixed": _objects(st.one_of(st.none(), integers, text, st.just(np.nan))),
    "object-set": _objects(st.none() | st.frozensets(_numbers, max_size=3)),
}
KINDS = TYPED | NESTED | PICKLED


@st.composite
def odd_frames(draw, kind, min_rows=0, max_rows=12):
    """Draw a frame with a column "x" of some kind, beside keys and numbers."""
    rows = draw(st.integers(min_rows, max_rows))
    n = draw(st.lists(small, min_size=rows, max_size=rows))
    k = draw(st.lists(keys, min_size=rows, max_size=rows))
    return pd.DataFrame(
        {
            "k": pd.Series(k, dtype="str"),
            "x": KINDS[kind](draw, rows),
            "n": pd.Series(n, dtype="int64"),
        }
    )


def assert_same(actual, expected, *, ignore_order=False, **options):
    """Compare frames as pandas sees them: values, dtypes, column order and index."""
    if ignore_order:
        actual, expected = in_order(actual), in_order(expected)
    pd.testing.assert_frame_equal(actual, expected, **options)


def none_as_nan(df):
    """Give the one missing value a column of objects has after an outer join."""
    objects = [name for name in df if df[name].dtype == object]
    return df.assign(**{name: df[name].where(df[name].notna()) for name in objects})


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
