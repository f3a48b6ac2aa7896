# SPDX-License-Identifier: Apache-2.0
"""Writing to S3: a real server (moto) on the loopback, in a process of its own."""

import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
from frames import assert_same
from s3_process import NEEDS_SERVER, Server, away_from_the_cloud  # noqa: F401

import xshards as xs

FORMS = ["csv", "json", "parquet", "ipc"]

pytestmark = NEEDS_SERVER


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("nothing"))
    yield made
    made.stop()


@pytest.fixture
def out(request):
    """A folder of the bucket that no other test has."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    return f"s3://data/{name}"


def write(server, form, path, values, **options):
    shards = xs.from_pandas(pd.DataFrame({"a": values}), 2)
    to_form = getattr(shards, f"to_{form}")
    return to_form(path, storage_options=server.options, **options)


def read(server, form, path):
    read_form = getattr(xs, f"read_{form}")
    return list(read_form(path, storage_options=server.options).to_pandas()["a"])


def keys(server, path):
    return server.keys(path.removeprefix("s3://data/") + "/")


@pytest.mark.parametrize("form", FORMS)
def test_modes(server, form, out):
    first = write(server, form, out, [1, 2, 3], mode="append")  # nothing is there yet
    assert all(path.startswith(f"{out}/part-0000") for path in first)
    with pytest.raises(OSError, match="not empty") as caught:
        write(server, form, out + "/", [4, 5])
    assert server.secret not in str(caught.value)
    assert read(server, form, out) == [1, 2, 3]
    paths = write(server, form, out, [4, 5], mode="append")
    assert [path.removeprefix(out)[:11] for path in paths] == [
        "/part-00002",
        "/part-00003",
    ]
    assert read(server, form, out) == [1, 2, 3, 4, 5]
    assert read(server, form, paths) == [4, 5]
    paths = write(server, form, out, [6, 7], mode="overwrite")
    assert [f"s3://data/{key}" for key in keys(server, out)] == paths
    assert read(server, form, out) == [6, 7]


@pytest.mark.parametrize("form", FORMS)
def test_partition_cols(server, form, out):
    df = pd.DataFrame(
        {"s": ["x", "a/b", "x", "100%", "é ü"], "i": [1, 1, 2, 2, 2], "v": range(5)}
    )
    options = {"partition_cols": ["s", "i"], "storage_options": server.options}
    to_form = getattr(xs.from_pandas(df, 2), f"to_{form}")
    read_form = getattr(xs, f"read_{form}")
    to_form(out, **options)
    paths = to_form(out, mode="overwrite", **options)
    assert len(paths) == len(keys(server, out)) == 5
    back = read_form(out, storage_options=server.options)
    assert_same(back.to_pandas(), df[["v", "s", "i"]], ignore_order=True)
    some = back[(xs.col("s") == "a/b") & (xs.col("i") == 1)]
    assert list(some.to_pandas()["v"]) == [1]
    if form == "csv":  # also where pandas reads
        theirs = xs.read_csv(out, storage_options=server.options, na_filter=False)
        assert_same(theirs.to_pandas(), df[["v", "s", "i"]], ignore_order=True)
    to_form(out, mode="append", **options)
    assert back.num_partitions() == 5
    assert read_form(out, storage_options=server.options).count() == 10


@pytest.mark.parametrize("form", ["csv", "json"])
def test_whole_files_are_compressed(server, form, out):
    paths = write(server, form, out, [1, 2], compression="gzip")
    assert all(path.endswith(f".{form}.gz") for path in paths)
    assert read(server, form, out) == [1, 2]


def test_large_objects_are_sent_in_parts(server, out):
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"a": rng.random(6_000_000)})
    shards = xs.from_pandas(df, 1)
    shards.to_ipc(out, storage_options=server.options)
    back = xs.read_ipc(out, storage_options=server.options).to_pandas()
    assert_same(back, df)


def test_other_libraries_read_it(server, out):
    write(server, "parquet", out, [1, 2, 3])
    write(server, "parquet", out, [4, 5, 6], mode="overwrite")
    options = {
        "AWS_ACCESS_KEY_ID": server.key,
        "AWS_SECRET_ACCESS_KEY": server.secret,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    code = """
import sys
from pyarrow import dataset, fs
system = fs.S3FileSystem(region="us-east-1", endpoint_override=sys.argv[2])
table = dataset.dataset(sys.argv[1].removeprefix("s3://"), filesystem=system).to_table()
print(table["a"].to_pylist())
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, out, server.endpoint],
        capture_output=True,
        text=True,
        check=False,
        env=options,
    )
    assert ran.stdout == "[4, 5, 6]\n", ran.stderr


def test_overwrites_what_it_reads(server, out):
    write(server, "parquet", out, [1, 2, 3])
    shards = xs.read_parquet(out, storage_options=server.options)
    doubled = shards.assign(a=xs.col("a") * 2)
    doubled.to_parquet(out, mode="overwrite", storage_options=server.options)
    assert read(server, "parquet", out) == [2, 4, 6]


def test_late_types_are_written_once(server, out, tmp_path):
    lines = [str(i) for i in range(400_000)]
    lines[200_100] = "late"
    (tmp_path / "a.csv").write_text("a\n" + "\n".join(lines) + "\n")
    shards = xs.read_csv(tmp_path / "a.csv", block_size=500_000)
    shards.to_csv(out, storage_options=server.options)
    back = xs.read_csv(out, storage_options=server.options).to_pandas()
    assert_same(back, pd.DataFrame({"a": lines}).astype("str"))


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("form", FORMS)
def test_a_failure_keeps_existing_files(server, form, mode, out):
    def fail(df):
        if df["a"].iloc[0] == 3:
            raise RuntimeError("on purpose")
        return df

    write(server, form, out, [1, 2])
    before = keys(server, out)
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3, 4]}), 4).transform_shard(fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        getattr(shards, f"to_{form}")(out, mode=mode, storage_options=server.options)
    assert keys(server, out) == before
    assert read(server, form, out) == [1, 2]


@pytest.mark.parametrize(
    ("kind", "mode"), [("upload", "overwrite"), ("copy", "append")]
)
def test_a_server_that_stops_keeps_existing_files(server, kind, mode, out):
    write(server, "parquet", out, [1, 2])
    before = keys(server, out)
    server.be_gone(kind, 1)
    try:
        with pytest.raises(OSError, match=out) as caught:
            write(server, "parquet", out, [3, 4], mode=mode)
    finally:
        server.be_back()
    assert server.secret not in str(caught.value)
    # It could not clean up, but what it left are files that readers skip.
    visible = [key for key in keys(server, out) if "/_" not in key]
    if kind == "upload":
        assert visible == before
        assert read(server, "parquet", out) == [1, 2]
    else:  # gone for good in the moment of publishing: one file could not be taken back
        assert set(before) < set(visible)
        assert "may be left" in str(caught.value)
    write(server, "parquet", out, [5, 6], mode="overwrite")
    assert read(server, "parquet", out) == [5, 6]


def test_a_server_that_stops_when_old_files_are_removed(server, out):
    write(server, "parquet", out, [1, 2])
    before = set(keys(server, out))
    server.be_gone("copy", 2)
    try:
        with pytest.raises(OSError, match="not all old files could be removed"):
            write(server, "parquet", out, [3, 4], mode="overwrite")
    finally:
        server.be_back()
    assert before < set(keys(server, out))


@pytest.mark.parametrize("mode", ["overwrite", "append"])
def test_being_killed_keeps_existing_files(server, mode, out, tmp_path):
    write(server, "parquet", out, [1, 2])
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
        shards.transform_shard(stall).to_parquet(
            {out!r}, mode={mode!r}, storage_options={server.options!r}
        )
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stderr=subprocess.PIPE
    ) as process:
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "begun").exists():
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.01)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGKILL
    assert read(server, "parquet", out) == [1, 2]
    # And the next one is none the worse for it.
    write(server, "parquet", out, [5, 6], mode="overwrite")
    assert read(server, "parquet", out) == [5, 6]


@pytest.mark.parametrize("wrong", ["key", "secret", "none"])
def test_wrong_credentials_are_an_error(server, wrong, out):
    options = server.options
    if wrong == "none":
        del options["key"], options["secret"]
    else:
        options[wrong] = "Wr0ng/+secret"
    shards = xs.from_pandas(pd.DataFrame({"a": [1]}), 1)
    with pytest.raises(OSError, match=out) as caught:
        shards.to_parquet(out, storage_options=options)
    assert server.secret not in str(caught.value)
    assert "Wr0ng" not in str(caught.value)
    assert keys(server, out) == []


def test_a_missing_bucket(server):
    shards = xs.from_pandas(pd.DataFrame({"a": [1]}), 1)
    with pytest.raises(OSError, match="s3://nobucket/a") as caught:
        shards.to_csv("s3://nobucket/a", storage_options=server.options)
    assert server.secret not in str(caught.value)


def test_an_object_is_not_a_folder(server, out):
    path = write(server, "csv", out, [1, 2])[0]
    with pytest.raises(OSError, match="it is a file"):
        write(server, "csv", path, [3, 4], mode="overwrite")
    assert read(server, "csv", out) == [1, 2]


def test_options_of_the_path_stay_secret(server, out):
    host = server.endpoint.removeprefix("http://")
    query = f"endpoint_override={host}&scheme=http&region=us-east-1"
    user = f"{server.key}:{server.secret.replace('/', '%2F').replace('+', '%2B')}"
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 1)
    paths = shards.to_csv(f"s3://{user}@{out.removeprefix('s3://')}?{query}")
    assert len(paths) == 1
    assert paths[0].startswith(f"{out}/part-00000-")
    assert paths[0].endswith(f".csv?{query}")
