# SPDX-License-Identifier: Apache-2.0
"""save_pickle and load_pickle: what comes back, and what is refused."""

import os
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from frames import frames, num_partitions
from hypothesis import given, settings
from hypothesis import strategies as st
from shard_values import assert_equal, nests, objects, shards_of

import xshards as xs
from xshards import XShards


@pytest.fixture(autouse=True)
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


def round_trip(shards, **options):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "saved")
        assert shards.save_pickle(path, key="secret") is shards
        return XShards.load_pickle(path, key="secret", **options).compute()


@given(st.lists(objects, max_size=5), st.data())
@settings(max_examples=20)
def test_objects_round_trip(held, data):
    cut = data.draw(st.integers(0, len(held)))
    shards = shards_of(held, [cut, 0, len(held) - cut])
    loaded = round_trip(shards)
    assert loaded.num_partitions() == 3
    assert_equal(loaded.collect(), held)


@given(st.data())
@settings(max_examples=20)
def test_arrays_round_trip(data):
    rows = data.draw(st.integers(1, 5))
    shards = xs.partition(data.draw(nests(rows)), data.draw(st.integers(1, rows)))
    assert_equal(round_trip(shards).collect(), shards.collect())


@given(frames(), num_partitions)
@settings(max_examples=20)
def test_frames_round_trip(df, count):
    loaded = round_trip(xs.from_pandas(df, count))
    pd.testing.assert_frame_equal(loaded.to_pandas(), df)
    assert loaded.num_partitions() == count


def test_an_index_comes_back():
    for index in ([5, 6, 7], ["x", "y", "z"]):
        df = pd.DataFrame({"a": [1, 2, 3]}, index=index)
        pd.testing.assert_frame_equal(round_trip(xs.from_pandas(df, 2)).to_pandas(), df)


def test_data_is_spread_over_more_partitions_on_demand():
    loaded = round_trip(xs.partition(np.arange(6), 2), minPartitions=3)
    assert_equal(loaded.collect(), np.array_split(np.arange(6), 3))
    assert (
        round_trip(xs.partition(np.arange(6), 2), minPartitions=1).num_partitions() == 2
    )


def test_one_file_per_partition_and_nothing_else(tmp_path):
    path = tmp_path / "saved"
    xs.partition(np.arange(6), 3).save_pickle(path, 10, key=b"k")
    names = [f"part-{i:05d}.pickle" for i in range(3)]
    assert sorted(p.name for p in path.iterdir()) == names
    assert sorted(p.name for p in tmp_path.iterdir()) == ["saved"]


def test_a_failed_save_leaves_no_files(tmp_path):
    def fail(_):
        raise RuntimeError("no")

    shards = xs.partition(np.arange(2), 2).transform_shard(fail)
    with pytest.raises(RuntimeError, match="no"):
        shards.save_pickle(tmp_path / "saved", key="k")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_files_is_not_written_to(tmp_path):
    (tmp_path / "a").write_text("x")
    shards = xs.partition(np.arange(2), 2)
    for path in (tmp_path, tmp_path / "a"):
        with pytest.raises(FileExistsError, match="not an empty directory"):
            shards.save_pickle(path, key="k")
    (tmp_path / "empty").mkdir()
    shards.save_pickle(tmp_path / "empty", key="k")
    assert len(XShards.load_pickle(tmp_path / "empty", key="k")) == 2


# the key


def test_default_key_is_created_once_and_private(tmp_path, config):
    shards = xs.partition(np.arange(4), 2)
    shards.save_pickle(tmp_path / "a")
    key = config / "xshards" / "pickle.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert list(key.parent.iterdir()) == [key]
    first = key.read_bytes()
    shards.save_pickle(tmp_path / "b")
    assert key.read_bytes() == first
    assert_equal(XShards.load_pickle(tmp_path / "a").collect(), shards.collect())


def test_an_open_or_damaged_key_is_refused(tmp_path, config):
    xs.partition(np.arange(4), 2).save_pickle(tmp_path / "a")
    key = config / "xshards" / "pickle.key"
    key.chmod(0o644)
    with pytest.raises(PermissionError, match="chmod 600"):
        XShards.load_pickle(tmp_path / "a")
    key.chmod(0o600)
    key.write_bytes(b"short")
    with pytest.raises(ValueError, match="is damaged"):
        XShards.load_pickle(tmp_path / "a")


@pytest.mark.parametrize("key", ["", b"", 3])
def test_a_key_must_be_text_or_bytes(tmp_path, key):
    with pytest.raises(ValueError, match="key must be bytes or str, and not empty"):
        XShards.load_pickle(tmp_path, key=key)


# what is refused


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "saved"
    xs.partition(np.arange(6), 2).save_pickle(path, key="right")
    return path


def refused(path, match, key="right"):
    with pytest.raises(ValueError, match=match) as caught:
        XShards.load_pickle(path, key=key).collect()
    return caught


def test_another_key_is_rejected(saved):
    refused(saved, "sealed with another key", key="wrong")


@pytest.mark.parametrize("position", [-1, 120, 0, 20])
def test_a_changed_byte_is_rejected(saved, position):
    path = saved / "part-00001.pickle"
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    refused(
        saved,
        "modified after it was written|not written by save_pickle|different save_",
    )


def test_a_truncated_file_is_rejected(saved):
    path = saved / "part-00000.pickle"
    content = path.read_bytes()
    for length in (len(content) - 1, 60, 10, 0):
        path.write_bytes(content[:length])
        refused(saved, "modified after it was written|not written by save_pickle")


def test_a_foreign_pickle_is_not_unpickled(tmp_path):
    mark = tmp_path / "exploded"
    directory = tmp_path / "foreign"
    directory.mkdir()
    (directory / "part-00000.pickle").write_bytes(pickle.dumps([Bomb(mark)]))
    refused(directory, "was not written by save_pickle")
    assert not mark.exists()


def test_a_sealed_looking_pickle_is_not_unpickled(saved, tmp_path):
    mark = tmp_path / "exploded"
    path = saved / "part-00000.pickle"
    line = path.read_bytes().partition(b"\n")[0] + b"\n"
    path.write_bytes(line + b"\0" * 32 + pickle.dumps([Bomb(mark)]))
    refused(saved, "part-00000.pickle was modified after it was written")
    assert not mark.exists()


def test_swapped_files_are_rejected(saved, tmp_path):
    one, other = saved / "part-00000.pickle", saved / "part-00001.pickle"
    other.write_bytes(one.read_bytes())
    refused(saved, "written by a different save_pickle call")
    xs.partition(np.arange(6), 2).save_pickle(tmp_path / "again", key="right")
    other.write_bytes((tmp_path / "again" / other.name).read_bytes())
    refused(saved, "written by a different save_pickle call")


def test_missing_files_are_named(saved, tmp_path):
    (saved / "part-00000.pickle").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"lacks the files of partitions \[0\] of 2"
    ):
        XShards.load_pickle(saved, key="right")
    with pytest.raises(FileNotFoundError, match="no directory"):
        XShards.load_pickle(tmp_path / "nowhere", key="right")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no pickle files"):
        XShards.load_pickle(tmp_path / "empty", key="right")
