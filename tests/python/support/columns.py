# SPDX-License-Identifier: Apache-2.0
"""A column of every kind that pandas has, each with five rows, most with a gap."""

import datetime
import decimal
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa

_TIMES = ["2024-01-01", None, "1969-12-31 23:59:59", "2024-03-31", "1900-01-01"]
_NUMPY = [
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "longdouble"),
    *("complex64", "complex128", ">i4", ">f8"),
]
_MASKED = [
    *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
    *("Float32", "Float64", "boolean"),
]


def objects(*cells):
    """Make an object column of exactly these cells."""
    return pd.Series(np.fromiter(cells, object, len(cells)), dtype=object)


def _datetimes():
    times = pd.Series(pd.to_datetime(_TIMES, format="ISO8601"))
    spans = pd.Series(pd.to_timedelta(["1h", None, "-2h", "0s", "90D"]))
    for unit in ("s", "ms", "us", "ns"):
        yield f"datetime64[{unit}]", times.dt.as_unit(unit)
        yield f"timedelta64[{unit}]", spans.dt.as_unit(unit)
    for zone in ("UTC", "Europe/Berlin", "+05:30"):
        yield f"datetime64[{zone}]", times.dt.tz_localize(zone)


def _categories():
    days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])
    cut = pd.Series(pd.cut([1, 5, np.nan, 9, 2], [0, 3, 6, 10]))
    kinds = {
        "str": (["a", "b", None, "a", "é"], ["é", "b", "unused", "a"]),
        "int": ([3, 1, None, 3, 2], [3, 2, 1, 0]),
        "time": ([days[0], None, days[1], days[1], days[0]], days),
        "mixed": (["a", 1, None, 1, "a"], [1, "a"]),
        "none": ([None] * 5, []),
    }
    for name, (values, categories) in kinds.items():
        for ordered in (False, True):
            made = pd.Categorical(values, categories=categories, ordered=ordered)
            yield f"category-{name}-{ordered}", pd.Series(made)
    yield "cut", cut


def _extensions():
    months = pd.period_range("2024-01", periods=5, freq="M")
    yield "period", pd.Series(months)
    yield "period-missing", pd.Series(months).where([True, False, True, True, True])
    yield "interval", pd.Series(pd.interval_range(0, 5, closed="left"))
    gaps = pd.IntervalIndex.from_breaks([0.0, 1, 2, 3, 4, 5])
    yield "interval-missing", pd.Series(gaps).where([True, False, True, True, True])
    days = pd.date_range("2024-01-01", periods=6, tz="Europe/Berlin")
    yield "interval-time", pd.Series(pd.IntervalIndex.from_breaks(days))
    yield "sparse", pd.Series([0.0, 0, 1.5, 0, np.nan], dtype="Sparse[float64, nan]")
    yield "sparse-int", pd.Series([0, 0, 1, 0, 2], dtype="Sparse[int64, 0]")
    words = ["x", None, "", "Zürich", "日本"]
    yield "str", pd.Series(words, dtype="str")
    yield (
        "str-python",
        pd.Series(words, dtype=pd.StringDtype("python", na_value=np.nan)),
    )
    yield "string-python", pd.Series(words, dtype="string[python]")
    yield "string-pyarrow", pd.Series(words, dtype="string[pyarrow]")


def _arrow():
    cases = {
        "int32": (pa.int32(), [1, None, 3, 4, 5]),
        "string": (pa.string(), ["a", None, "c", "d", "é"]),
        "dictionary": (
            pa.dictionary(pa.int8(), pa.string()),
            ["a", "b", "a", None, "c"],
        ),
        "decimal": (pa.decimal128(5, 2), [decimal.Decimal("1.50"), None]),
        "list": (pa.list_(pa.int64()), [[1, 2], [], None, [3], [None]]),
        "struct": (pa.struct([("a", pa.int8())]), [{"a": 1}, None, {"a": None}]),
        "time": (pa.time32("s"), [datetime.time(1), None]),
        "map": (pa.map_(pa.string(), pa.int8()), [[("k", 1)], None, [], [], []]),
    }
    for name, (kind, values) in cases.items():
        whole = (values * 5)[:5]
        array = pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(whole, kind)]))
        yield f"arrow-{name}", pd.Series(array)


def _objects():
    day = datetime.date(2024, 1, 1)
    noon = datetime.datetime(2024, 1, 1, 12, 0, 0, 5)
    yield "object-str", objects("a", None, "", "é", "b")
    yield "object-str-nan", objects("a", np.nan, "", "é", "b")
    yield "object-str-both", objects("a", np.nan, None, pd.NA, pd.NaT)
    yield "object-surrogate", objects("a", "\ud800", None, "c", "d")
    yield "object-bytes", objects(b"x", None, b"", b"\0", b"y")
    yield "object-bool", objects(True, None, False, True, True)
    yield "object-bool-nan", objects(True, np.nan, False, True, True)
    yield "object-int", objects(1, None, 2**62, -3, 0)
    yield "object-big-int", objects(1, None, 2**80, -3, 0)
    yield "object-float", objects(1.5, None, 2.5, -0.0, np.inf)
    yield "object-date", objects(day, None, day, datetime.date(1, 1, 1), day)
    yield "object-datetime", objects(noon, None, noon, noon, noon)
    yield "object-zoned", objects(noon.astimezone(datetime.UTC), *[noon] * 4)
    yield "object-timestamp", objects(pd.Timestamp(noon), *[pd.NaT] * 4)
    yield "object-time", objects(datetime.time(1, 2, 3, 4), *[None] * 4)
    yield "object-timedelta", objects(datetime.timedelta(1, 2, 3), *[None] * 4)
    yield (
        "object-decimal",
        objects(*map(decimal.Decimal, ["1.5", "2.50", "-3", "0", "9"])),
    )
    yield (
        "object-decimal-nan",
        objects(*map(decimal.Decimal, ["NaN", "1", "2", "3", "4"])),
    )
    yield "object-list", objects([1, 2], [], None, [3], [None])
    yield "object-list-str", objects(["a"], [], None, ["é", "b"], [None])
    yield "object-list-mixed", objects([1, "a"], [], None, [3.5], [None])
    yield "object-dict", objects({"a": 1}, {"a": 2}, None, {"a": 3}, {"a": None})
    yield "object-dict-keys", objects({"a": 1}, {"b": 2}, None, {}, {1: 2})
    yield "object-mixed", objects(1, "a", None, 2.5, b"x")
    yield "object-bool-int", objects(True, 1, None, 0, False)
    yield "object-set", objects({1, 2}, set(), None, frozenset([1]), uuid.UUID(int=5))
    yield "object-none", objects(*[None] * 5)
    yield "object-nan", objects(*[np.nan] * 5)


def _arrays():
    rng = np.random.default_rng(0)
    yield "ndarray", objects(*rng.random((5, 3)))
    yield "ndarray-matrix", objects(*rng.integers(0, 9, (5, 2, 3), dtype=np.int16))
    yield "ndarray-f16", objects(*rng.random((5, 2)).astype(np.float16))
    yield "ndarray-missing", objects(np.arange(2), None, *np.ones((3, 2), np.int64))
    yield "ndarray-ragged", objects(*(np.arange(n, dtype=np.int32) for n in range(5)))
    yield "ndarray-ragged-nd", objects(*(np.ones((n, 2)) for n in range(5)))
    yield "ndarray-bool", objects(*np.ones((5, 2), bool))
    words = np.array(["a", "é"], dtype=object), np.array([None], dtype=object)
    yield "ndarray-object", objects(*words, None, words[1][:0], words[0][1:])
    inner = np.fromiter([np.arange(2), np.arange(0)], object)
    yield "ndarray-nested", objects(inner, None, inner[:1], inner[:0], inner)
    yield "ndarray-dtypes", objects(np.arange(2), np.ones(2), None, np.ones(1), "a")
    yield "ndarray-str", objects(*(np.array(["a", "b"]) for _ in range(5)))


def every_column():
    """Give them all by name."""
    columns = {
        name: pd.Series(np.array([1, 0, 3, 100, 5]).astype(name)) for name in _NUMPY
    }
    columns["float64"][1] = np.nan
    columns["complex128"][2] = complex(np.nan, 1)
    columns["bool"] = pd.Series([True, False, True, True, False])
    for name in _MASKED:
        columns[name] = pd.Series([1, None, 0, 1, None], dtype=name)
    for group in (_datetimes, _categories, _extensions, _arrow, _objects, _arrays):
        columns.update(group())
    return columns
