# SPDX-License-Identifier: Apache-2.0
"""Text that the engine holds as dictionaries is text to everybody else."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frames import assert_same, frames, num_partitions
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs

TEXTS = ["k", "s"]


def encoded(frame, n, pieces=2):
    """Give shards whose text is dictionaries, another one in every piece."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    rows = max(1, -(-len(frame) // (n * pieces)))
    parts = [table.slice(at, rows) for at in range(0, max(1, len(frame)), rows)]
    batches = []
    for part in parts:
        for name in TEXTS:
            at = part.schema.get_field_index(name)
            text = part.column(at).cast(pa.large_string()).combine_chunks()
            part = part.set_column(at, name, text.dictionary_encode())
        batches += part.replace_schema_metadata(None).to_batches() or [
            pa.RecordBatch.from_pylist([], schema=part.schema)
        ]
    return xs.from_arrow(pa.Table.from_batches(batches), n)


def missing_as(frame, value):
    return frame.fillna({"s": value})


#: Of shards or a frame: what both have under one name.
SAME = {
    "all": lambda df: df,
    "compare": lambda df: df[df["k"] == "a"],
    "upper": lambda df: df.assign(u=lambda d: d["s"].str.upper()),
    "missing": lambda df: missing_as(df, "?"),
    "drop_missing": lambda df: df.dropna(subset=["s"]),
    "sort": lambda df: df.sort_values(["k", "n", "i", "s"]),
    "sort_down": lambda df: df.sort_values(["s", "i"], ascending=[False, True]),
    "rename": lambda df: df.rename(columns={"k": "key"}),
    "drop_duplicates": lambda df: df.drop_duplicates(["k"]),
    "drop_all_duplicates": lambda df: df[["k", "s"]].drop_duplicates(),
    "last_duplicates": lambda df: df.drop_duplicates(["s", "n"], keep="last"),
}


@pytest.mark.parametrize("name", SAME)
@given(frame=frames(), n=num_partitions)
def test_rows(name, frame, n):
    if name == "compare":
        shards = encoded(frame, n).filter(xs.col("k") == "a")
    elif name == "upper":
        shards = encoded(frame, n).with_column("u", xs.col("s").str.upper())
    else:
        shards = SAME[name](encoded(frame, n))
    expected = SAME[name](frame).reset_index(drop=True)
    actual = shards.to_pandas().reset_index(drop=True)
    if name.startswith("sort"):  # rows that are equal in all keys may swap
        assert_same(actual[["k", "s"]], expected[["k", "s"]])
    assert_same(actual, expected, ignore_order=name.startswith("sort"))


@given(frame=frames(), n=num_partitions, wanted=num_partitions)
def test_exchanges(frame, n, wanted):
    shards = encoded(frame, n)
    for moved in (
        shards.partition_by("k", wanted),
        shards.partition_by(["s", "n"], wanted),
        shards.repartition(wanted),
        shards.partition_by_range("s", wanted),
    ):
        assert_same(moved.to_pandas(), frame, ignore_order=True)
    places = {}
    for place, part in enumerate(shards.partition_by("k", wanted).collect()):
        for key in part["k"].fillna("missing").unique():
            assert places.setdefault(key, place) == place


@given(frame=frames(), n=num_partitions)
def test_groups(frame, n):
    shards = encoded(frame, n)
    grouped = frame.groupby(["k", "s"], dropna=False, as_index=False, sort=False)
    assert_same(
        shards.group_by(["k", "s"], {"i": ["sum", "max"]}).to_pandas(),
        grouped.agg(**{"sum(i)": ("i", "sum"), "max(i)": ("i", "max")}),
        ignore_order=True,
    )
    by_number = frame.groupby("n", as_index=False, sort=False)
    assert_same(
        shards.group_by("n", {"s": ["min", "count", "nunique"]}).to_pandas(),
        by_number.agg(
            **{
                "min(s)": ("s", "min"),
                "count(s)": ("s", "count"),
                "nunique(s)": ("s", "nunique"),
            }
        ),
        ignore_order=True,
    )
    assert list(shards["s"].unique()) == pytest.approx(
        list(frame["s"].unique()), nan_ok=True
    )
    counts = shards["k"].value_counts()
    pd.testing.assert_series_equal(
        counts.sort_index(), frame["k"].value_counts().sort_index()
    )


@given(
    left=frames(max_rows=15),
    right=frames(max_rows=15),
    n=num_partitions,
    how=st.sampled_from(["inner", "left", "right", "outer"]),
    both=st.booleans(),
)
def test_merge(left, right, n, how, both):
    other = encoded(right, 2) if both else xs.from_pandas(right, 2)
    actual = encoded(left, n).merge(other, on="k", how=how).to_pandas()
    assert_same(actual, left.merge(right, on="k", how=how), ignore_order=True)


@given(left=frames(), right=frames(), n=num_partitions)
def test_union(left, right, n):
    both = encoded(left, n).union(xs.from_pandas(right, 2))
    expected = pd.concat([left, right], ignore_index=True)
    assert_same(both.to_pandas(), expected)
    again = encoded(left, n).union(encoded(right, 2)).partition_by("k", 3)
    assert_same(again.to_pandas(), expected, ignore_order=True)


def few_texts(rows=3000):
    rng = np.random.default_rng(5)
    texts = ["", "a", "é日本", "a text of more than sixteen bytes", None]
    texts = np.array(texts, object)
    return pd.DataFrame(
        {
            "k": pd.Series(texts[rng.integers(0, 5, rows)], dtype="str"),
            "s": pd.Series(texts[rng.integers(1, 4, rows)], dtype="str"),
            "i": rng.integers(0, 9, rows),
        }
    )


@pytest.fixture
def kept(tmp_path):
    """Give shards that a Parquet file was read to, cached, and the rows."""
    frame = few_texts()
    pq.write_table(
        pa.Table.from_pandas(frame), tmp_path / "a.parquet", row_group_size=700
    )
    shards = xs.read_parquet(tmp_path, num_partitions=4)
    assert "dictionaries kept: k, s" in shards.partition_by("k").explain(as_text=True)
    assert "dictionaries kept" not in shards.explain(as_text=True)
    return shards.cache(), frame


def test_dictionary_encoding_is_invisible(kept):
    shards, frame = kept
    text = pa.large_string()
    assert shards.schema == pa.schema({"k": text, "s": text, "i": pa.int64()})
    assert shards.to_arrow().schema == shards.schema
    assert str(shards.dtypes["k"]) == "str"
    assert_same(shards.to_pandas(), frame)
    assert_same(pd.concat(shards.collect(), ignore_index=True), frame)
    assert "dictionary" not in repr(shards)
    assert pa.table(shards).schema == shards.schema


@pytest.mark.parametrize("form", ["pandas", "arrow", "polars", "numpy"])
def test_functions_get_text(kept, form):
    shards, frame = kept
    if form == "polars":
        pytest.importorskip("polars")

    def kind(part):
        return str(part["k"].dtype if form in ("pandas", "numpy") else part["k"].type)

    def check(part):
        if form == "polars":
            assert str(part["k"].dtype) == "String"
            return part
        expected = {"pandas": "str", "arrow": "large_string", "numpy": "object"}
        assert kind(part) == expected[form]
        return pd.DataFrame(part) if form == "numpy" else part

    made = shards.transform_shard(check, format=form).to_pandas()
    if form == "numpy":
        made = made.astype({"k": "str", "s": "str"})
    assert_same(made, frame)


def test_functions_on_batches_get_text(kept):
    shards, frame = kept
    made = shards.map_batches(
        lambda part: part.assign(t=part["k"].dtype.name), batch_size=100
    )
    assert_same(made.to_pandas(), frame.assign(t=pd.Series("str", frame.index, "str")))


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "ipc"])
def test_writers_write_text(kept, tmp_path, form):
    shards, frame = kept
    getattr(shards, f"to_{form}")(tmp_path / "out")
    read = getattr(xs, f"read_{form}")(tmp_path / "out")
    expected = (
        frame if form != "csv" else frame.assign(k=frame["k"].mask(frame["k"] == ""))
    )
    assert_same(read.to_pandas()[["k", "s", "i"]], expected, ignore_order=True)


def test_spilled_dictionaries_come_back(tmp_path):
    frame = few_texts(300_000)
    frame = frame.assign(**{f"f{n}": np.arange(300_000.0) for n in range(12)})
    pq.write_table(
        pa.Table.from_pandas(frame), tmp_path / "a.parquet", row_group_size=50_000
    )
    xs.init(cores=2, memory="16MB", spill_dir=tmp_path)
    shards = xs.read_parquet(tmp_path / "a.parquet", num_partitions=8)
    moved = shards.partition_by("s", 5).cache()
    assert sum(stage.spilled_bytes for stage in xs.last_profile().stages) > 0
    assert_same(moved.to_pandas(), frame, ignore_order=True)
    ordered = shards.sort_values(["s", "k", "i"]).to_pandas()
    assert_same(ordered, frame.sort_values(["s", "k", "i"]).reset_index(drop=True))
