# SPDX-License-Identifier: Apache-2.0
"""Reading from S3: a real server (moto) on the loopback, in a process of its own."""

import json
import subprocess
import sys
import time
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from s3_process import NEEDS_SERVER, Server, away_from_the_cloud  # noqa: F401

import xshards as xs

READERS = {"csv": xs.read_csv, "json": xs.read_json, "parquet": xs.read_parquet}

pytestmark = NEEDS_SERVER


@pytest.fixture(scope="module")
def frame():
    numbers = np.arange(200_000)
    return pd.DataFrame(
        {
            "id": numbers,
            "half": numbers / 2,
            "city": np.where(numbers % 3 == 0, "Zürich", "a,b"),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, frame):
    made = tmp_path_factory.mktemp("objects")
    parts = np.array_split(np.arange(len(frame)), 2)
    for form in READERS:
        (made / form).mkdir()
    for number, rows in enumerate(parts):
        part = frame.iloc[rows]
        part.to_csv(made / "csv" / f"part {number}.csv", index=False)
        part.to_json(
            made / "json" / f"part {number}.json", orient="records", lines=True
        )
        part.to_parquet(made / "parquet" / f"part {number}.parquet", index=False)
    frame.to_csv(made / "whole.csv.xz", index=False)
    for number, name in enumerate(["k=1", "k=2"]):
        (made / "hive" / name / "w=a%2Fb").mkdir(parents=True)
        part = pd.DataFrame({"v": [number]})
        part.to_csv(made / "hive" / name / "w=a%2Fb" / "part.csv", index=False)
    return made


@pytest.fixture(scope="module")
def server(folder):
    made = Server(folder)
    yield made
    made.stop()


@pytest.mark.parametrize("form", READERS)
def test_reads_a_folder(server, frame, form):
    shards = READERS[form](f"s3://data/{form}", storage_options=server.options)
    assert_frame_equal(shards.to_pandas(), frame)


@pytest.mark.parametrize("options", [{}, {"na_filter": False}])  # ours, and pandas
def test_folders_are_columns(server, options):
    shards = xs.read_csv("s3://data/hive", storage_options=server.options, **options)
    expected = pd.DataFrame({"v": [0, 1], "k": [1, 2], "w": ["a/b", "a/b"]})
    assert_frame_equal(shards.to_pandas().reset_index(drop=True), expected)
    assert list(shards[xs.col("k") == 2].to_pandas()["v"]) == [1]


def test_reads_patterns_and_lists_in_many_splits(server, frame):
    shards = xs.read_csv(
        "s3://data/csv/*.csv", storage_options=server.options, block_size=100_000
    )
    assert shards.num_partitions() > 20
    assert_frame_equal(shards.to_pandas(), frame)
    files = ["s3://data/csv/part%200.csv", "s3://data/csv/part%201.csv"]
    listed = xs.read_csv(files, storage_options=server.options)
    assert listed.count() == len(frame)


def test_takes_options_from_the_path_and_the_environment(server, frame, monkeypatch):
    host = server.endpoint.removeprefix("http://")
    query = f"endpoint_override={host}&scheme=http&region=us-east-1"
    user = f"{quote(server.key, safe='')}:{quote(server.secret, safe='')}"
    assert xs.read_csv(f"s3://{user}@data/csv?{query}").count() == len(frame)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.secret)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert xs.read_csv("s3://data/csv?region=us-east-1").count() == len(frame)


def test_pandas_reads_unsupported_files(server, frame):
    shards = xs.read_csv("s3://data/whole.csv.xz", storage_options=server.options)
    assert_frame_equal(shards.to_pandas(), frame)
    shards = xs.read_csv(
        "s3://data/csv", storage_options=server.options, na_filter=False
    )
    assert shards.num_partitions() == 2
    assert_frame_equal(shards.to_pandas().reset_index(drop=True), frame)


def test_worker_processes_read_too(server, frame):
    shards = xs.read_csv("s3://data/csv", storage_options=server.options)
    doubled = shards.transform_shard(lambda part: part.assign(id=part["id"] * 2))
    assert doubled.to_pandas()["id"].sum() == 2 * frame["id"].sum()


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("wrong", ["key", "secret", "none"])
def test_wrong_credentials_are_an_error(server, form, wrong):
    options = server.options
    if wrong == "none":
        del options["key"], options["secret"]
    else:
        options[wrong] = "Wr0ng/+secret"
    with pytest.raises(OSError, match=f"s3://data/{form}") as caught:
        READERS[form](f"s3://data/{form}", storage_options=options)
    message = str(caught.value)
    assert "ACCESS_DENIED" in message or "Forbidden" in message or "403" in message
    assert server.secret not in message
    assert "Wr0ng" not in message


def test_a_missing_bucket_or_object(server):
    with pytest.raises(FileNotFoundError, match="s3://data/nothing") as caught:
        xs.read_csv("s3://data/nothing.csv", storage_options=server.options)
    assert server.secret not in str(caught.value)
    with pytest.raises(OSError, match="s3://nobucket/a"):
        xs.read_csv("s3://nobucket/a.csv", storage_options=server.options)


def test_options_are_checked():
    for options, message in [
        ({"token": "t"}, "AWS_SESSION_TOKEN"),
        ({"key": "k"}, "both key and secret"),
        ({"colour": 1}, "'colour'"),
    ]:
        with pytest.raises(ValueError, match=message):
            xs.read_csv("s3://data/a.csv", storage_options=options)
    with pytest.raises(ValueError, match="for s3:// paths, got"):
        xs.read_csv("/tmp/a.csv", storage_options={"key": "k", "secret": "s"})


@pytest.mark.parametrize("form", READERS)
def test_a_server_that_stops_during_a_read(folder, form, tmp_path):
    server = Server(folder)
    try:
        shards = READERS[form](f"s3://data/{form}", storage_options=server.options)
        server.die_in_an_answer(100_000)
        out = tmp_path / "out"
        with pytest.raises(OSError, match=rf"s3://data/{form}/part%20\d") as caught:
            shards.to_ipc(out)
        assert server.process.wait(30) == 0
        assert server.secret not in str(caught.value)
    finally:
        server.stop()
    assert list(tmp_path.iterdir()) == []


def test_works_beside_pyarrows_own_file_system(server):
    script = """
import json, sys
import pyarrow.fs
options = json.loads(sys.argv[1])
fs = pyarrow.fs.S3FileSystem(
    access_key=options["key"], secret_key=options["secret"], region="us-east-1",
    endpoint_override=options["endpoint_url"],
)
import xshards as xs
if __name__ == "__main__":
    assert fs.get_file_info("data/csv").type == pyarrow.fs.FileType.Directory
    print(xs.read_csv("s3://data/csv", storage_options=options).count())
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, json.dumps(server.options)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "200000\n"
    assert ran.stderr == ""


def test_an_object_that_changes_before_it_is_read(server):
    from pyarrow import fs

    system = fs.S3FileSystem(
        access_key=server.key,
        secret_key=server.secret,
        endpoint_override=server.endpoint,
        region="us-east-1",
    )

    def write(content):
        with system.open_output_stream("data/changes/a.csv") as file:
            file.write(content)

    write(b"a\n1\n2\n")
    for path in ("s3://data/changes/a.csv", "s3://data/changes"):
        shards = xs.read_csv(path, storage_options=server.options)
        assert shards.to_pandas()["a"].tolist() == [1, 2]
    write(b"a\n1\n2\n3\n")
    with pytest.raises(OSError, match=r"a\.csv'?.*It had 6 bytes, and now has 8"):
        shards.to_pandas()
    # Of the same size, but of another second.
    shards = xs.read_csv("s3://data/changes/a.csv", storage_options=server.options)
    time.sleep(1.1)
    write(b"a\n1\n2\n4\n")
    with pytest.raises(OSError, match=r"a\.csv.*It was modified"):
        shards.to_pandas()
