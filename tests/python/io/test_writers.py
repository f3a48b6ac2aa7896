# SPDX-License-Identifier: Apache-2.0
"""Output beside output, and what is left when writing fails."""

import contextlib
import gzip
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import assert_same, num_partitions
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs
from xshards.errors import XShardsValueError

FORMS = ["csv", "json", "parquet", "ipc"]


def write(form, directory, values, **options):
    shards = xs.from_pandas(pd.DataFrame({"a": values}), 2)
    return getattr(shards, f"to_{form}")(directory, **options)


def read(form, directory):
    return list(getattr(xs, f"read_{form}")(directory).to_pandas()["a"])


@pytest.mark.parametrize("form", FORMS)
def test_modes(tmp_path, form):
    out = tmp_path / "out"
    write(form, out, [1, 2, 3], mode="append")  # nothing is there yet
    with pytest.raises(OSError, match="not empty"):
        write(form, out, [4, 5])
    paths = write(form, out, [4, 5], mode="append")
    assert [Path(path).name[:10] for path in paths] == ["part-00002", "part-00003"]
    assert read(form, out) == [1, 2, 3, 4, 5]
    paths = write(form, out, [6, 7], mode="overwrite")
    assert sorted(map(str, out.iterdir())) == paths
    assert read(form, out) == [6, 7]
    assert list(tmp_path.iterdir()) == [out]
    with pytest.raises(ValueError, match="'replace'"):
        write(form, out, [1, 2], mode="replace")


ticks = st.none() | st.integers(-(2**62), 2**62) | st.integers(-(10**6), 10**6)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@given(values=st.lists(ticks, min_size=1, max_size=8), n=num_partitions)
def test_durations_are_text(unit, values, n):
    bound = {"s": 10**9, "ms": 10**12, "us": 10**15, "ns": 2**62}[unit]
    values = [
        value if value is None else value % bound - bound // 2 for value in values
    ]
    df = pd.DataFrame({"d": pd.array(values, "Int64").astype(f"m8[{unit}]"), "i": 1})
    with tempfile.TemporaryDirectory() as directory:
        shards = xs.from_pandas(df, n)
        paths = shards.to_json(Path(directory, "json"))
        lines = "".join(Path(path).read_text("utf-8") for path in paths)
        expected = df.to_json(orient="records", lines=True, date_format="iso")
        assert lines == expected
        parts = [part[["d", "i"]] for part in shards.collect()]
        paths = shards.to_csv(Path(directory, "csv"))
        texts = [Path(path).read_text("utf-8") for path in paths]
        assert texts == [part.to_csv(index=False) for part in parts]


def moments(unit, step):
    """Times, or distances, that are whole numbers of a step."""
    bound = 10**17 // step
    return st.none() | st.integers(-bound, bound).map(
        lambda value: np.datetime64(value * step, "ns").astype(f"M8[{unit}]")
    )


STEPS = {"day": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@given(data=st.data(), n=num_partitions)
def test_times_have_the_digits_that_one_of_them_needs(unit, zone, data, n):
    step = data.draw(st.sampled_from(sorted(STEPS.values())))
    values = data.draw(st.lists(moments(unit, step), min_size=1, max_size=5))
    times = pd.Series(values, dtype=f"M8[{unit}]")
    df = pd.DataFrame({"t": times.dt.tz_localize("UTC") if zone else times, "i": 1})
    if zone:
        df["t"] = df["t"].dt.tz_convert(zone)
    df["d"] = times - pd.Timestamp(0).as_unit(unit)
    shards = xs.from_pandas(df, n)
    parts = [part[["t", "i", "d"]] for part in shards.collect()]
    with tempfile.TemporaryDirectory() as directory:
        paths = shards.to_csv(Path(directory, "csv"))
        texts = [Path(path).read_text("utf-8") for path in paths]
    assert texts == [part.to_csv(index=False) for part in parts]


ZONES = [None, "UTC", "+05:30", "Europe/Paris", "Africa/Monrovia"]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("n", [1, 3, 7])
def test_times_of_all_years_are_written_as_pandas_does(tmp_path, unit, zone, n):
    texts = ["1880-01-01", "1919-06-30T12:34:56", "2013-07-07", None, "0012-01-01"]
    if zone in (None, "UTC", "+05:30"):
        texts += ["10000-01-01", "32768-01-01T01:02:03", "-0040-01-01", "-32769-01-01"]
    times = pd.Series(np.array(texts, "M8[s]")).dt.as_unit(unit)
    if zone:
        times = times.dt.tz_localize("UTC").dt.tz_convert(zone)
    shards = xs.from_pandas(pd.DataFrame({"t": times, "ä": "ö"}), n)
    parts = [part[["t", "ä"]] for part in shards.collect()]
    if zone == "UTC":  # as pandas has it: that of zoneinfo it cannot write
        parts = [part.assign(t=part["t"].dt.tz_convert("UTC")) for part in parts]
    paths = shards.to_csv(tmp_path / "out")
    written = [Path(path).read_text("utf-8") for path in paths]
    assert written == [part.to_csv(index=False) for part in parts]


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_the_first_and_the_last_time_are_written_as_pandas_does(tmp_path, unit):
    ticks = np.array([-(2**63) + 1, 2**63 - 1], "i8")
    df = pd.DataFrame({"t": ticks.view(f"M8[{unit}]")})
    [path] = xs.from_pandas(df, 1).to_csv(tmp_path / "out")
    assert Path(path).read_text("utf-8") == df.to_csv(index=False)


@pytest.mark.parametrize("method", ["to_csv", "to_json"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_time_that_its_zone_does_not_know_is_named(tmp_path, method, n):
    times = pd.Series(np.array(["2013-01-01", "40000-01-01"], "M8[s]"))
    zoned = times.dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")
    shards = xs.from_pandas(pd.DataFrame({"i": [1, 2], "zeit": zoned}), n)
    out = tmp_path / "out"
    with pytest.raises(NotImplementedError, match=r"'zeit'.* Got 40000-01-01 00:00:00"):
        getattr(shards, method)(out)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NotImplementedError, match=r"'zeit'.* Got 40000-01-01 00:00:00"):
        getattr(shards, method)(out, partition_cols=["zeit"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("batch_rows", [7, 70_000, 100_000])
def test_times_are_looked_at_in_chunks_of_pandas(tmp_path, batch_rows):
    days = pd.Series(range(130_000), dtype="int64").astype("M8[s]").dt.as_unit("us")
    df = pd.DataFrame({"t": days.dt.normalize(), "i": range(len(days))})
    for row, distance in ((49_999, "5s"), (50_000, "5ms"), (120_000, "5us")):
        df.loc[row, "t"] += pd.Timedelta(distance)
    path = tmp_path / "a.arrow"
    table = pa.Table.from_pandas(df, preserve_index=False)
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=batch_rows)
    [written] = xs.read_ipc(path, num_partitions=1).to_csv(tmp_path / "out")
    assert Path(written).read_text("utf-8") == df.to_csv(index=False)


def test_folders_of_durations_are_named_as_pandas_prints_them(tmp_path):
    values = pd.to_timedelta(["1 days 02:03:04.5", "-1 s", None, "3 days"]).as_unit(
        "us"
    )
    df = pd.DataFrame({"k": values, "a": range(4)})
    for form in FORMS:
        out = tmp_path / form
        getattr(xs.from_pandas(df, 2), f"to_{form}")(out, partition_cols="k")
        missing = "__HIVE_DEFAULT_PARTITION__"
        names = [missing if pd.isna(value) else str(value) for value in df["k"]]
        found = {unquote(folder.name) for folder in out.iterdir()}
        assert found == {f"k={name}" for name in names}
        again = getattr(xs, f"read_{form}")(out).to_pandas().sort_values("a")
        texts = again["k"].reset_index(drop=True)
        assert_same(pd.to_timedelta(texts).dt.as_unit("us").to_frame(), df[["k"]])


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("form", FORMS)
def test_failed_write_keeps_existing_files(tmp_path, form, mode):
    def fail(df):
        if df["a"].iloc[0] == 3:
            raise RuntimeError("on purpose")
        return df

    out = tmp_path / "out"
    write(form, out, [1, 2])
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3, 4]}), 4).transform_shard(fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        getattr(shards, f"to_{form}")(out, mode=mode)
    assert read(form, out) == [1, 2]
    assert list(tmp_path.iterdir()) == [out]


def wait_for(path, process):
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("form", FORMS)
def test_killed_write_keeps_existing_files(tmp_path, form, mode):
    out = tmp_path / "out"
    write(form, out, [1, 2])
    script = f"""
        import pathlib, time
        import pandas as pd
        import xshards as xs
        def stall(df):
            if df["a"].iloc[0] == 3:
                pathlib.Path({str(tmp_path / "begun")!r}).touch()
                time.sleep(600)
            return df
        xs.init(cores=2, progress=False)
        shards = xs.from_pandas(pd.DataFrame({{"a": [1, 2, 3, 4]}}), 4)
        shards.transform_shard(stall).to_{form}({str(out)!r}, mode={mode!r})
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stderr=subprocess.PIPE
    ) as process:
        try:
            wait_for(tmp_path / "begun", process)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGKILL
    assert read(form, out) == [1, 2]
    # And the next one is none the worse for it.
    write(form, out, [5, 6], mode="overwrite")
    assert read(form, out) == [5, 6]


def test_overwrites_what_it_reads(tmp_path):
    write("parquet", tmp_path / "out", [1, 2, 3])
    shards = xs.read_parquet(tmp_path / "out")
    shards.assign(a=xs.col("a") * 2).to_parquet(tmp_path / "out", mode="overwrite")
    assert read("parquet", tmp_path / "out") == [2, 4, 6]


def test_uris(tmp_path):
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 1)
    uri = f"file://{tmp_path}/a%20b"
    assert shards.to_csv(uri) == [str(tmp_path / "a b" / "part-00000.csv")]
    assert read("csv", tmp_path / "a b") == read("csv", uri) == [1, 2]
    shards.to_csv(uri, mode="append")
    assert read("csv", uri) == [1, 2, 1, 2]
    with pytest.raises(ValueError, match="'gopher://b/c'"):
        shards.to_csv("gopher://key:secret@b/c")
    with pytest.raises(ValueError, match="storage_options are for s3:// paths"):
        shards.to_csv(tmp_path / "out", storage_options={"key": "k", "secret": "s"})
    assert not Path("gopher:").exists()


cells = st.none() | st.sampled_from(["x", "a/b", "k=v", "100%", "é", "..", " "])


@pytest.mark.parametrize("form", FORMS)
@given(
    st.lists(st.tuples(cells, st.integers(-3, 3), st.integers()), min_size=1),
    num_partitions,
)
def test_partition_cols_come_back(form, rows, n):
    rows = [(s, i, v % 1000) for s, i, v in rows]
    df = pd.DataFrame(rows, columns=["s", "i", "v"]).astype({"s": "str"})
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory, "out")
        shards = xs.from_pandas(df, n)
        paths = getattr(shards, f"to_{form}")(out, partition_cols=["s", "i"])
        assert sorted(paths) == sorted(map(str, out.rglob("part-*")))
        back = getattr(xs, f"read_{form}")(out).to_pandas()
        assert_same(back, df[["v", "s", "i"]], ignore_order=True)
        if form == "parquet" and df["s"].notna().all():  # they take no missing ones
            theirs = pd.read_parquet(out).astype({"i": "int64"})
            theirs["s"] = theirs["s"].astype("str")
            assert_same(theirs[["v", "s", "i"]], df[["v", "s", "i"]], ignore_order=True)


def test_partition_cols_of_others_are_read(tmp_path):
    df = pd.DataFrame({"k": [1, 1, 2], "w": ["x", "y", "x"], "v": [1.5, 2.5, None]})
    df.to_parquet(tmp_path, partition_cols=["k", "w"])
    back = xs.read_parquet(tmp_path)
    assert_same(back.to_pandas(), df[["v", "k", "w"]], ignore_order=True)
    some = back[(xs.col("k") == 1) & (xs.col("w") != "x")][["w", "v"]]
    assert_same(some.to_pandas(), df.loc[[1], ["w", "v"]].reset_index(drop=True))
    assert len(back) == 3
    assert list(back["k"].to_pandas().sort_values()) == [1, 1, 2]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_folders_of_text_files_are_columns(tmp_path, form):
    df = pd.DataFrame({"k": [1, 1, 2], "w": ["x", "y", "x"], "v": ["1", "2", "3"]})
    write = getattr(xs.from_pandas(df, 1), f"to_{form}")
    write(tmp_path, partition_cols=["k", "w"])
    read = getattr(xs, f"read_{form}")
    back = read(tmp_path)
    expected = df[["v", "k", "w"]]
    if form == "csv":
        expected = expected.astype({"v": "int64"})
    assert_same(back.to_pandas(), expected, ignore_order=True)
    some = back[(xs.col("k") == 1) & (xs.col("w") != "x")][["w", "v"]]
    assert_same(some.to_pandas(), expected.loc[[1], ["w", "v"]].reset_index(drop=True))
    assert len(back) == 3
    assert list(back["k"].to_pandas().sort_values()) == [1, 1, 2]
    with contextlib.chdir(tmp_path.parent):
        paths = [tmp_path, f"file://{tmp_path}", f"./{tmp_path.name}", tmp_path.name]
        paths += [f"{tmp_path}/*/*/*"]
        for path in paths if form == "csv" else []:
            theirs = read(path, na_filter=False).to_pandas()
            assert_same(theirs, expected, ignore_order=True)
    changed = back.transform_shard(lambda part: part[part["k"] == 2])
    assert list(changed.to_pandas()["w"]) == ["x"]


def test_usecols_names_folders_too(tmp_path):
    df = pd.DataFrame({"k": [1, 1, 2], "v": [1, 2, 3], "w": [4, 5, 6]})
    xs.from_pandas(df, 1).to_csv(tmp_path, partition_cols="k")
    read = xs.read_csv(tmp_path, usecols=["w", "k"]).to_pandas()
    assert_same(read, df[["w", "k"]], ignore_order=True)
    assert list(xs.read_csv(tmp_path, usecols=["v"]).columns) == ["v"]
    with pytest.raises(KeyError, match=r"'z'.*'v', 'w', 'k'"):
        xs.read_csv(tmp_path, usecols=["z"])


@pytest.mark.parametrize("form", ["csv", "json"])
def test_types_found_late_leave_folders_alone(tmp_path, form):
    """A value that no sample has makes all be looked at: not the folders' names."""
    rows = 60_000
    folder = tmp_path / "k=7"
    folder.mkdir()
    lines = [f"{v}" if form == "csv" else f'{{"v": {v}}}' for v in range(rows)]
    lines.insert(50_000, "0.5" if form == "csv" else '{"v": 0.5, "late": 1}')
    head = ["v"] if form == "csv" else []
    (folder / f"a.{form}").write_text("\n".join([*head, *lines, ""]))
    read = getattr(xs, f"read_{form}")(tmp_path, num_partitions=1)
    assert str(read.schema.field("v").type) == "int64"
    back = read.to_pandas()
    assert back["v"].dtype == "float64"
    assert (back["k"] == 7).all()
    assert back["k"].dtype == "int64"
    assert list(back.columns) == (["v", "k"] if form == "csv" else ["v", "late", "k"])


def test_folders_that_differ_are_named(tmp_path):
    df = pd.DataFrame({"k": [1, 2], "v": [1, 2]})
    df.to_parquet(tmp_path, partition_cols=["k"])
    df[["v"]].to_parquet(tmp_path / "z.parquet")
    with pytest.raises(ValueError, match=r"z\.parquet"):
        xs.read_parquet(tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_partition_cols_are_appended_and_overwritten(tmp_path, form):
    def write(keys, mode):
        df = pd.DataFrame({"k": keys, "v": range(len(keys))})
        shards = xs.from_pandas(df, 2)
        return getattr(shards, f"to_{form}")(tmp_path, partition_cols="k", mode=mode)

    write(["a", "b"], "error")
    write(["b", "c"], "append")
    assert {p.name for p in tmp_path.iterdir()} == {"k=a", "k=b", "k=c"}
    assert len(list((tmp_path / "k=b").iterdir())) == 2
    write(["d", "d"], "overwrite")
    assert {p.name for p in tmp_path.iterdir()} == {"k=d"}


def test_partition_cols_are_checked(tmp_path):
    shards = xs.from_pandas(pd.DataFrame({"k": range(2000), "v": range(2000)}), 1)
    with pytest.raises(KeyError, match="nowhere"):
        shards.to_parquet(tmp_path, partition_cols=["nowhere"])
    with pytest.raises(ValueError, match="leave at least one column to write"):
        shards.to_parquet(tmp_path, partition_cols=["k", "v"])
    with pytest.raises(ValueError, match="more than 1000"):
        shards.to_parquet(tmp_path, partition_cols=["k"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("compression", ["gzip", "bz2", "zstd", "lz4"])
def test_text_compression(tmp_path, form, compression):
    values = [i % 10 for i in range(10_000)]
    paths = write(form, tmp_path, values, compression=compression)
    assert sum(Path(path).stat().st_size for path in paths) < 5_000
    assert read(form, tmp_path) == values
    if compression == "gzip":
        first = gzip.decompress(Path(paths[0]).read_bytes()).splitlines()
        assert first[1] == (b"0" if form == "csv" else b'{"a":1}')
    with pytest.raises(ValueError, match="'rar'"):
        write(form, tmp_path, [1, 2], compression="rar")


@pytest.mark.parametrize("compression", [None, "zstd", "gzip", "brotli", "lz4"])
def test_parquet_compression(tmp_path, compression):
    df = pd.DataFrame({"a": range(1000), "s": ["x", "yy"] * 500})
    xs.from_pandas(df, 2).to_parquet(tmp_path, compression=compression)
    assert_same(xs.read_parquet(tmp_path).to_pandas(), df)


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_ipc_compression(tmp_path, compression):
    df = pd.DataFrame({"a": range(1000), "s": ["x", "yy"] * 500})
    xs.from_pandas(df, 2).to_ipc(tmp_path, compression=compression)
    assert_same(xs.read_ipc(tmp_path).to_pandas(), df)


@pytest.mark.parametrize("form", FORMS)
def test_full_disk_is_reported_and_keeps_existing_files(tmp_path, form):
    out = tmp_path / "out"
    write(form, out, [1, 2])
    script = f"""
        import resource
        import numpy as np
        import pandas as pd
        import xshards as xs
        xs.init(cores=1, progress=False)
        df = pd.DataFrame({{"a": np.random.default_rng(0).random(200_000)}})
        shards = xs.from_pandas(df, 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            shards.to_{form}({str(out)!r}, mode="overwrite")
        except xs.XShardsError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Could not write" in done.stdout, done.stderr
    assert "File too large" in done.stdout
    assert read(form, out) == [1, 2]
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("form", "known"),
    [
        ("CSV", "'sep', 'header', 'na_rep'"),
        ("JSON", "none"),
        ("Parquet", "'compression', 'row_group_rows'"),
        ("IPC", "'compression'"),
        ("TFRecord", "none"),
    ],
)
def test_unknown_options_of_the_engine_are_named(tmp_path, form, known):
    match = f"Unknown option of {form} writing: 'wrong'; expected one of {known}$"
    core = xs.from_pandas(pd.DataFrame({"a": [1]}))._core
    general = {"mode": "error", "suffix": "", "partition_cols": None}
    with pytest.raises(XShardsValueError, match=match):
        core.write(str(tmp_path), form.lower(), general, {"wrong": 1}, None)
