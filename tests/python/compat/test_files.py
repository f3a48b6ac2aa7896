# SPDX-License-Identifier: Apache-2.0
"""orca.data.file and SafePickle."""

import io
import pickle

import numpy as np
import pytest

from xshards.compat.exports import files
from xshards.compat.orca.safe_pickle import SafePickle


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_text_and_arrays(tmp_path, scheme):
    folder = f"{scheme}{tmp_path}/a/b"
    files.makedirs(folder)
    files.makedirs(folder)
    files.write_text(f"{folder}/t.txt", "one\ntwo \n")
    assert files.open_text(f"{folder}/t.txt") == ["one", "two"]
    np.save(tmp_path / "a" / "b" / "x.npy", np.arange(3))
    assert files.load_numpy(f"{folder}/x.npy").tolist() == [0, 1, 2]
    assert files.exists(folder)
    assert not files.is_file(folder)
    assert files.is_file(f"{folder}/t.txt")
    start = f"{folder}/" if scheme else ""
    assert files.listdir(folder) == [f"{start}t.txt", f"{start}x.npy"]


def test_rmdir_removes_empty_directories_only(tmp_path):
    (tmp_path / "full" / "inner").mkdir(parents=True)
    with pytest.raises(OSError, match="not empty"):
        files.rmdir(str(tmp_path / "full"))
    files.rmdir(str(tmp_path / "full" / "inner"))
    assert not files.exists(str(tmp_path / "full" / "inner"))


def test_copies(tmp_path):
    source = tmp_path / "source"
    (source / "below").mkdir(parents=True)
    (source / "a.txt").write_text("a")
    (source / "below" / "b.txt").write_text("b")
    target = f"file://{tmp_path}/target"
    files.put_local_file_to_remote(str(source / "a.txt"), f"{target}/a.txt", 0o600)
    with pytest.raises(RuntimeError, match="over_write=True"):
        files.put_local_file_to_remote(str(source / "a.txt"), f"{target}/a.txt")
    assert (tmp_path / "target" / "a.txt").stat().st_mode & 0o777 == 0o600
    files.put_local_dir_tree_to_remote(str(source), f"{tmp_path}/tree")
    assert (tmp_path / "tree" / "below" / "b.txt").read_text() == "b"
    with pytest.raises(RuntimeError, match="over_write=True"):
        files.put_local_dir_tree_to_remote(str(source), f"{tmp_path}/tree")
    files.put_local_dir_to_remote(str(source), f"{tmp_path}/flat")
    assert files.listdir(f"{tmp_path}/flat") == ["a.txt"]
    files.get_remote_dir_to_local(target, f"{tmp_path}/back")
    assert files.open_text(f"{tmp_path}/back/a.txt") == ["a"]
    files.get_remote_file_to_local(f"{target}/a.txt", f"{tmp_path}/one.txt")
    assert files.exists(f"{tmp_path}/one.txt")


def test_remote_files_come_later():
    for path in ("hdfs://host/a", "s3://bucket/a"):
        with pytest.raises(NotImplementedError, match="is not in XShards yet"):
            files.exists(path)


def test_safe_pickle_checks_before_it_loads():
    file = io.BytesIO()
    digest = SafePickle.dump({"a": [1]}, file, return_digest=True)
    file.seek(0)
    assert SafePickle.load(file, digest) == {"a": [1]}
    damaged = io.BytesIO(file.getvalue()[:-1] + b"x")
    with pytest.raises(RuntimeError, match="Pickle safe check failed"):
        SafePickle.load(damaged, digest)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("unpickled before it was checked",))


def test_safe_pickle_rejects_foreign_files():
    file = io.BytesIO()
    SafePickle.dump([1, 2], file)
    file.seek(0)
    assert SafePickle.load(file) == [1, 2]
    with pytest.raises(RuntimeError, match="Pickle safe check failed"):
        SafePickle.load(io.BytesIO(pickle.dumps(Bomb())))
    assert pickle.loads(SafePickle.dumps({"b": 2})) == {"b": 2}
