# SPDX-License-Identifier: Apache-2.0
"""Who may read what is written: as before, or as the umask says; and links."""

import contextlib
import os
import stat
import threading

import pandas as pd
import pytest

import xshards as xs

FRAME = pd.DataFrame({"a": [1, 2, 3], "k": ["x", "y", "x"]})


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def shards():
    return xs.from_pandas(FRAME, 2)


@pytest.fixture
def umask():
    """Set the umask for a test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


WRITERS = ["to_csv", "to_parquet", "to_json", "to_ipc"]


def rows_of(folder, name="to_csv"):
    read = getattr(xs, "read_" + name.removeprefix("to_"))
    return sorted(read(str(folder)).to_pandas()["a"].tolist())


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o027, 0o002])
@pytest.mark.parametrize("writer", WRITERS)
def test_new_files_obey_the_umask(shards, tmp_path, umask, mask, writer):
    umask(mask)
    getattr(shards, writer)(str(tmp_path / "out"))
    assert mode_of(tmp_path / "out") == 0o777 & ~mask
    for file in (tmp_path / "out").iterdir():
        assert mode_of(file) == 0o666 & ~mask


def test_folders_of_values_obey_the_umask(shards, tmp_path, umask):
    umask(0o077)
    shards.to_parquet(str(tmp_path / "out"), partition_cols=["k"])
    for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]:
        assert mode_of(path) == (0o700 if path.is_dir() else 0o600)


@pytest.mark.parametrize("mode", [0o700, 0o2750, 0o1777, 0o755, 0o770])
def test_replaced_folder_keeps_its_mode(shards, tmp_path, umask, mode):
    out = tmp_path / "out"
    shards.to_csv(str(out))
    (out / "part-00000.csv").chmod(0o600)
    out.chmod(mode)
    shards.to_csv(str(out), mode="overwrite")
    assert mode_of(out) == mode
    assert mode_of(out / "part-00000.csv") == 0o600
    assert mode_of(out / "part-00001.csv") == 0o644
    assert rows_of(out) == [1, 2, 3]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_keeps_its_mode(shards, tmp_path, umask):
    (tmp_path / "out").mkdir(0o700)
    shards.to_csv(str(tmp_path / "out"))
    assert mode_of(tmp_path / "out") == 0o700


def test_files_of_a_private_folder_are_never_open_to_others(tmp_path, umask):
    """Not even while they are written, in a folder beside it."""
    out = tmp_path / "out"
    shards = xs.from_pandas(pd.DataFrame({"a": range(200_000)}), 4)
    shards.to_csv(str(out))
    out.chmod(0o700)
    seen, done = set(), threading.Event()

    def look():
        while not done.is_set():
            for path in tmp_path.iterdir():
                with contextlib.suppress(FileNotFoundError):
                    seen.add((path.name == "out", mode_of(path)))

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(50):
        shards.to_csv(str(out), mode="overwrite")
        if (False, 0o700) in seen:
            break
    done.set()
    thread.join()
    assert seen == {(True, 0o700), (False, 0o700)}


def test_a_group_is_inherited(shards, tmp_path, umask):
    out = tmp_path / "out"
    out.mkdir()
    if os.getuid() == 0:
        os.chown(out, -1, 12345)
    out.chmod(0o2770)
    group = out.stat().st_gid
    for _ in range(2):
        shards.to_parquet(str(out), partition_cols=["k"], mode="overwrite")
        assert mode_of(out) == 0o2770
        for path in [out, *out.rglob("*")]:
            assert path.stat().st_gid == group
            if path.is_dir():
                assert mode_of(path) & stat.S_ISGID


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_link_stays_and_its_target_is_written(
    shards, tmp_path, umask, mode, relative, slash
):
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "target"
    shards.to_csv(str(target))
    target.chmod(0o711)
    link = tmp_path / "link"
    link.symlink_to("elsewhere/target" if relative else target)
    xs.from_pandas(FRAME, 1).to_csv(str(link) + slash, mode=mode)
    assert link.is_symlink()
    assert mode_of(target) == 0o711
    assert rows_of(target) == (
        [1, 2, 3] if mode == "overwrite" else sorted([1, 2, 3] * 2)
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "link"]
    assert [path.name for path in target.parent.iterdir()] == ["target"]


def test_a_dangling_link_gets_its_target(shards, tmp_path, umask):
    (tmp_path / "link").symlink_to("not/there")
    shards.to_csv(str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert rows_of(tmp_path / "not" / "there") == [1, 2, 3]
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="round"):
        shards.to_csv(str(tmp_path / "round"))


def test_pickles_and_checkpoints(shards, tmp_path, umask):
    from xshards.learn.training.checkpoints.files import written_whole

    umask(0o077)
    shards.save_pickle(str(tmp_path / "new"), key="k")
    assert mode_of(tmp_path / "new") == 0o700
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept").chmod(0o2755)
    (tmp_path / "link").symlink_to("kept")
    shards.save_pickle(str(tmp_path / "link"), key="k")
    assert (tmp_path / "link").is_symlink()
    assert mode_of(tmp_path / "kept") == 0o2755
    for _ in range(2):
        (tmp_path / "weights").symlink_to("file") if _ == 0 else None
        with written_whole(tmp_path / "weights") as aside:
            assert mode_of(aside) == 0o600
            aside.write_text("all")
        assert (tmp_path / "weights").is_symlink()
        (tmp_path / "file").chmod(0o640)
    assert mode_of(tmp_path / "file") == 0o640


def test_a_folder_that_links_to_itself_is_read_once(shards, tmp_path):
    out = tmp_path / "out"
    shards.to_csv(str(out))
    (out / "again").symlink_to(".")
    (out / "up").symlink_to("..")
    (out / "whole").symlink_to(out)
    assert rows_of(out) == [1, 2, 3]
    assert len(xs.read_csv(str(out / "**" / "*.csv"))) == 3
    (out / "up").unlink()
    # A link to another folder is followed.
    xs.from_pandas(FRAME, 1).to_csv(str(tmp_path / "other"))
    (out / "more").symlink_to(tmp_path / "other")
    (tmp_path / "other" / "back").symlink_to(out)
    assert rows_of(out) == sorted([1, 2, 3] * 2)


@pytest.mark.parametrize(
    "reader", ["read_csv", "read_json", "read_parquet", "read_ipc"]
)
def test_a_fifo_in_a_folder_is_named(shards, tmp_path, reader):
    out = tmp_path / "out"
    getattr(shards, reader.replace("read", "to"))(str(out))
    os.mkfifo(out / "pipe")
    os.mkfifo(out / "_hidden")
    with pytest.raises(
        xs.XShardsError, match=r"regular files, found a FIFO at .*pipe'"
    ):
        getattr(xs, reader)(str(out))
    with pytest.raises(xs.XShardsError, match=r"regular file or a folder at .*pipe'"):
        getattr(xs, reader)(str(out / "pipe"))
    (out / "pipe").unlink()
    assert len(getattr(xs, reader)(str(out))) == 3


def test_a_fifo_that_pandas_would_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(xs.XShardsError, match="regular file or a folder"):
        xs.read_json(str(tmp_path / "pipe"), orient="columns").to_pandas()
