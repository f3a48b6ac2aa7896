# SPDX-License-Identifier: Apache-2.0
"""JSON documents of other orients than records, against pandas."""

import json
import math
import warnings
from io import StringIO

import pandas as pd
import pytest
from frames import assert_same
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs

pytestmark = pytest.mark.filterwarnings("ignore:Could not infer format")

ORIENTS = ["columns", "index", "split", "table", "values"]


def read_both(content, orient, **options):
    """Read a text with pandas and with us; None for what pandas refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = pd.read_json(
                StringIO(content), orient=orient, precise_float=True, **options
            )
        except Exception as error:
            with pytest.raises(xs.XShardsError) as caught:
                xs.read_json(content.encode(), orient=orient, **options)
            assert "JSON given" in str(caught.value) or "bytes" in str(caught.value)
            return None, error
        actual = xs.read_json(content.encode(), orient=orient, **options).to_pandas()
    return actual, expected


def check(content, orient, **options):
    actual, expected = read_both(content, orient, **options)
    if actual is not None:
        if expected.empty:  # it may lose labels on its way through Arrow
            expected = xs.from_pandas(expected).to_pandas()
        assert_same(actual, expected)


numbers = st.sampled_from(
    [
        "0",
        "7",
        "-3",
        "-0",
        "1.0",
        "2.5",
        "-2e3",
        "9007199254740993",
        "0.1",
        "1e300",
        "9223372036854775807",
        "-9223372036854775808",
        "9.3e18",
        "123456789.123456789",
    ]
)
large = st.sampled_from(["9223372036854775808", "18446744073709551615"])
times = st.sampled_from(
    [
        "1700000000000",
        "1700000000",
        "40000000",
        "1.7e12",
        "1700000000.5",
        "31536000",
        '"2024-01-02T03:04:05.000"',
        '"2024-01-02"',
        '"2024-01-02T03:04:05Z"',
    ]
)
texts = st.sampled_from(
    [
        '"x"',
        '"é😀"',
        '"\\u00e9\\n\\"\\\\"',
        '""',
        '"5"',
        '"1.5"',
        '" 2"',
        '"1_0"',
        '"nan"',
    ]
)
booleans = st.sampled_from(["true", "false"])
specials = st.sampled_from(["NaN", "Infinity", "-Infinity"])
nested = st.sampled_from(
    ["[]", "[1,null]", '{"p":1}', '{"p":"x","q":[{}]}', '[["a"]]', '{"p":null}']
)
null = st.just("null")
kinds = [numbers, large, times, texts, booleans, specials, nested, null]
#: Of one kind, perhaps with nulls, or of several.
columns = st.sampled_from(
    [
        *kinds,
        *(kind | null for kind in kinds),
        numbers | large,
        numbers | times,
        numbers | texts,
        booleans | numbers,
        texts | booleans,
        st.one_of(kinds),
    ]
)
keys = st.sampled_from(
    [
        "a",
        "b",
        "é",
        'q"',
        "",
        "0",
        "1",
        "date",
        "made_at",
        "timestamp_x",
        "Modified",
        "2024-01-01",
        "1700000000000",
        "1.5",
        "updated",
        "nan",
    ]
)
row_keys = keys | st.integers(0, 30).map(str) | st.integers(4 * 10**7, 10**8).map(str)


def written(key):
    return json.dumps(key)


def as_object(members):
    return "{" + ",".join(f"{written(key)}:{value}" for key, value in members) + "}"


def as_array(items):
    return "[" + ",".join(items) + "]"


@st.composite
def frames(draw, *, whole=True):
    """Draw the labels and values of a frame; not `whole`, some are absent."""
    names = draw(st.lists(keys, min_size=1, max_size=4, unique=True))
    rows = draw(st.lists(row_keys, min_size=1, max_size=5, unique=True))
    cells = []
    for _ in names:
        values = draw(columns)
        if not whole and draw(st.booleans()):
            values = values | st.none()
        size = len(rows)
        cells.append(draw(st.lists(values, min_size=size, max_size=size)))
    return names, rows, cells


def present(labels, cells):
    return as_object(
        (x, v) for x, v in zip(labels, cells, strict=True) if v is not None
    )


def by_rows(cells):
    return list(zip(*cells, strict=True))


@given(frames(whole=False))
def test_objects_of_columns(frame):
    names, rows, cells = frame
    content = as_object(
        (n, present(rows, c)) for n, c in zip(names, cells, strict=True)
    )
    check(content, "columns")
    check(content, "values")


@given(frames())
def test_columns_of_lists(frame):
    names, _, cells = frame
    content = as_object((n, as_array(c)) for n, c in zip(names, cells, strict=True))
    check(content, "columns")
    check(content, "index")


@given(frames(whole=False))
def test_objects_of_rows(frame):
    names, rows, cells = frame
    in_rows = [present(names, row) for row in by_rows(cells)]
    check(as_object(zip(rows, in_rows, strict=True)), "index")
    check(as_array(in_rows), "values")
    check(as_array(in_rows), "columns")


@given(frames(), st.lists(st.integers(1, 4), min_size=5, max_size=5))
def test_arrays_of_rows(frame, lengths):
    _, _, cells = frame
    rows = [as_array(row) for row in by_rows(cells)]
    check(as_array(rows), "values")
    ragged = [as_array(r[:n]) for r, n in zip(by_rows(cells), lengths, strict=False)]
    check(as_array(ragged), "values")


labels = st.one_of(numbers, times, texts, booleans, null)


@given(frames(), st.data())
def test_split(frame, data):
    names, rows, cells = frame
    size = len(rows)
    index = data.draw(st.sampled_from([labels, numbers, times, texts]))
    parts = [
        (
            "columns",
            as_array(
                map(
                    written,
                    data.draw(st.lists(keys, min_size=len(names), max_size=len(names))),
                )
            ),
        ),
        ("index", as_array(data.draw(st.lists(index, min_size=size, max_size=size)))),
        ("data", as_array(as_array(row) for row in by_rows(cells))),
    ]
    check(as_object(data.draw(st.permutations(parts))), "split")
    check(as_object([parts[0], parts[2]]), "split")


@given(frames())
def test_dtype_is_not_inferred_on_request(frame):
    names, rows, cells = frame
    content = as_object(
        (n, present(rows, c)) for n, c in zip(names, cells, strict=True)
    )
    check(content, "columns", dtype=False)
    check(content, "columns", dtype={names[0]: "str"})


TABLES = {
    "numbers": pd.DataFrame({"i": [1, 2], "f": [0.5, None], "b": [True, False]}),
    "text": pd.DataFrame({"s": ["é", None], "o": ["5", "6"]}, index=["x", "y"]),
    "named index": pd.DataFrame({"a": [1, 2]}, index=pd.Index([3, 4], name="n")),
    "levels": pd.DataFrame(
        {"a": [1, 2]},
        index=pd.MultiIndex.from_tuples([(1, "x"), (2, "y")], names=["n", None]),
    ),
    "times": pd.DataFrame(
        {"t": pd.to_datetime(["2024-01-02", None]), "d": pd.to_datetime([0, 1])},
    ),
    "zone": pd.DataFrame({"t": pd.date_range("2024-01-02", periods=2, tz="UTC")}),
    "time index": pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2024", periods=2)),
    "categories": pd.DataFrame({"c": pd.Categorical(["b", "a", None], ordered=True)}),
    "nullable": pd.DataFrame(
        {"i": pd.array([1, None], "Int64"), "b": pd.array([True, None], "boolean")}
    ),
    "nested": pd.DataFrame({"l": [[1, None], {"p": "x"}]}),
    "no rows": pd.DataFrame({"a": pd.Series([], dtype="int64")}),
    "no columns": pd.DataFrame(index=[1, 2]),
    "empty": pd.DataFrame(),
}


@pytest.mark.parametrize("frame", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("orient", ORIENTS)
def test_what_pandas_writes(frame, orient):
    check(frame.to_json(orient=orient, date_format="iso"), orient)


def test_a_table_of_periods():
    index = pd.period_range("2024-01", periods=2, freq="M")
    check(pd.DataFrame({"a": [1, 2]}, index=index).to_json(orient="table"), "table")


field_types = st.sampled_from(
    [{"type": kind} for kind in ("string", "integer", "number", "boolean", "any")]
    + [{"type": "datetime"}, {"type": "datetime", "tz": "UTC"}, {"type": "duration"}]
    + [{"type": "integer", "extDtype": "Int64"}, {"type": "string", "extDtype": "str"}]
    + [{"type": "any", "constraints": {"enum": ["x", "5"]}, "ordered": False}]
    + [{"type": "nonsense"}, {}]
)


@given(frames(whole=False), st.data())
def test_tables_have_the_types_of_their_schema(frame, data):
    names, _, cells = frame
    known = st.sampled_from([*names, "other"])
    fields = [
        {"name": name, **data.draw(field_types)}
        for name in data.draw(st.lists(known, min_size=1, unique=True))
    ]
    schema = {"fields": fields}
    if data.draw(st.booleans()):
        schema["primaryKey"] = data.draw(st.lists(known, min_size=1, max_size=2))
    rows = as_array(present(names, row) for row in by_rows(cells))
    content = as_object([("schema", json.dumps(schema)), ("data", rows)])
    check(content, "table")


ODD = [
    *("5", '"x"', "null", "[]", "{}", "[[]]", "[{}]", "[1,2]", '[[1],{"a":1}]'),
    *('{"a":1}', '{"a":[1],"b":2}', '{"a":{"x":1},"b":[1]}', '{"a":[1],"b":[1,2]}'),
    *('{"a":{}}', '{"a":[]}', '{"a":{"x":1},"a":{"x":2}}', '{"a":{"x":1,"x":2}}'),
    *('{"r":{"b":1},"s":{"a":2},"t":{"b":3}}', '[{"a":1,"a":2}]', "[null,[1]]"),
    *('{"columns":["a"],"data":[[1,2]]}', '{"columns":["a"]}', '{"data":[[1]]}'),
    *('{"columns":["a","a"],"index":[1,1],"data":[[1,2],[3,4]]}',),
    *('{"columns":[["a",1],["b",2]],"index":[0],"data":[[1,2]]}',),
    *('{"columns":[["a",1],["b",2]],"data":[[1,2],[3,4]]}',),
    *('{"columns":["a"],"index":[["x",1],["y",2]],"data":[[1],[2]]}',),
    *('{"columns":["a"],"index":[0,1],"data":[[1]]}', '{"columns":["a"],"data":[]}'),
    *('{"columns":["a"],"data":[{"a":1}]}', '{"columns":["a"],"data":[1]}'),
    *('{"columns":["a"],"data":[[1]],"name":5}', '{"columns":"ab","data":[[1,2]]}'),
    *('{"columns":[null,1.5],"index":[true,"x"],"data":[[1,2],[3,4]]}',),
    *('{"schema":{"fields":[]},"data":[]}', '{"schema":{},"data":[{"a":1}]}'),
    *('{"schema":{"fields":[{"name":"a","type":"integer"}]},"data":[{"a":null}]}',),
    *('{"schema":{"fields":[{"name":"a","type":"string"}]},"data":[{"b":1}],"x":2}',),
    *('{"schema":{"fields":[{"name":"a","type":"any"}]}}', '{"schema":[],"data":[]}'),
    *('{"a":{"x":"\\ud800"}}', '[["\\ud800"]]', '{"a":[1]}x', '{"a":[1}', '{"a":[1]'),
    *('{"a":["x]}', "[1 2]", '{"a":tru}', '{"a" [1]}', "[[1],]"),
]


@pytest.mark.parametrize("orient", ORIENTS)
@pytest.mark.parametrize("content", ODD)
def test_odd_documents(content, orient):
    check(content, orient)


def test_files_are_read_in_worker_processes(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "s": ["x", None]}, index=["p", "q"])
    folder = tmp_path / "in"
    for day in (1, 2):
        (folder / f"day={day}").mkdir(parents=True)
        frame.to_json(folder / f"day={day}" / "a.json.gz", orient="split")
    shards = xs.read_json(folder, orient="split")
    assert shards.num_partitions() == 2
    expected = pd.concat([frame.assign(day=day) for day in (1, 2)])
    assert_same(shards.to_pandas(), expected)
    assert_same(xs.read_json(folder, orient="split", nrows=3).to_pandas(), expected[:3])
    bad = tmp_path / "bad.json"
    bad.write_text('{"a":\n{"x":1,}}')
    message = r"bad\.json', line 2: Expected a key in quotes, got \}\}"
    with pytest.raises(xs.XShardsError, match=message):
        xs.read_json(bad, orient="columns").to_pandas()


def test_integers_beyond_64_bits_are_kept():
    for values in ([2**70], ["x", -(2**63) - 1], [True, 2**64, None]):
        content = json.dumps(
            {"columns": ["a"], "index": values, "data": [[v] for v in values]}
        )
        read = xs.read_json(content.encode(), orient="split").to_pandas()
        assert read["a"].tolist() == values
        assert read.index.tolist() == values


def test_values_out_of_range_are_those_of_records():
    numbers = xs.read_json(b'{"a":[1e400,-1e400,1e-400]}', orient="columns")
    assert numbers.to_pandas()["a"].tolist() == [math.inf, -math.inf, 0.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a":["x\ny"]}', "line 1: Expected a closing quote"),
        ('{"a":[01]}', "a number without leading zeros, got 01"),
        ('{"a":[1.]}', "a digit after the point"),
    ],
)
def test_what_only_pandas_takes_for_json(content, message):
    with pytest.raises(xs.XShardsError, match=message):
        xs.read_json(content.encode(), orient="columns")
