# SPDX-License-Identifier: Apache-2.0
"""Names and places of checkpoints; files that are there whole or not at all."""

import os
from pathlib import Path

import pytest

from xshards.errors import XShardsFileNotFoundError, XShardsValueError
from xshards.learn.training.checkpoints import files as checkpoints
from xshards.learn.training.checkpoints.files import (
    Checkpoint,
    find_checkpoint,
    latest_checkpoint,
    list_checkpoints,
    new_run,
    written_whole,
)


def put(directory, *versions, prefix="xshards"):
    directory.mkdir(exist_ok=True, parents=True)
    for version in versions:
        checkpoint = Checkpoint(directory, version, prefix)
        checkpoint.model.touch()
        checkpoint.optimizer.touch()
    return directory


def test_layout_is_bigdls(tmp_path):
    checkpoint = Checkpoint(tmp_path / "2026-01-31_23-59-59", 40, "mine")
    names = [path.relative_to(tmp_path) for path in vars_of(checkpoint)]
    assert names == [
        Path("2026-01-31_23-59-59/model.40"),
        Path("2026-01-31_23-59-59/optimMethod-mine.40"),
    ]


def vars_of(checkpoint):
    return [checkpoint.model, checkpoint.optimizer]


def test_runs_of_the_same_second_have_directories_of_their_own(tmp_path):
    runs = [new_run(tmp_path / "models") for _ in range(12)]
    assert len(set(runs)) == 12
    for number, run in enumerate(runs):
        put(run, number + 1)
    # The twelfth is after the second, though "11" sorts before "2".
    assert [c.version for c in list_checkpoints(tmp_path / "models")] == list(
        range(1, 13)
    )


def test_the_newest_is_the_last_iteration_of_the_newest_run(tmp_path):
    put(tmp_path / "2026-01-31_23-59-59", 10, 200)
    newest = put(tmp_path / "2026-02-01_00-00-00", 5, 9, 100)
    assert find_checkpoint(tmp_path) == Checkpoint(newest, 100)
    assert find_checkpoint(newest) == Checkpoint(newest, 100)
    assert find_checkpoint(tmp_path, version=9) == Checkpoint(newest, 9)
    assert find_checkpoint(tmp_path, version=200).directory.name.startswith("2026-01")


def test_bigdls_own_directories_are_in_order_with_ours(tmp_path):
    put(tmp_path / "20251231_235959", 7)
    put(tmp_path / "2026-01-01_00-00-00", 8)
    put(tmp_path / "20260101_000001", 3)
    assert [c.version for c in list_checkpoints(tmp_path)] == [7, 8, 3]


def test_the_newer_run_of_a_version_is_taken(tmp_path):
    put(tmp_path / "2026-01-01_00-00-00", 8)
    newer = put(tmp_path / "2026-01-02_00-00-00", 8, 9)
    assert find_checkpoint(tmp_path, 8).directory == newer


def test_prefixes(tmp_path):
    put(tmp_path, 3, prefix="one")
    put(tmp_path, 5, prefix="two.parts")
    assert find_checkpoint(tmp_path).prefix == "two.parts"
    assert find_checkpoint(tmp_path, prefix="one").version == 3
    with pytest.raises(XShardsFileNotFoundError, match="optimMethod-three"):
        find_checkpoint(tmp_path, prefix="three")


def test_incomplete_checkpoint_is_ignored(tmp_path):
    run = put(tmp_path / "2026-01-31_23-59-59", 10)
    Checkpoint(run, 20).optimizer.touch()
    Checkpoint(run, 30).model.touch()
    (run / ".model.40.tmp-x").touch()
    (run / "optimMethod-xshards.007").touch()
    (run / "model.7").touch()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "model.99").touch()
    (tmp_path / "notes" / "optimMethod-xshards.99").touch()
    assert list_checkpoints(tmp_path) == [Checkpoint(run, 10)]


def test_latest_file_of_the_callback(tmp_path):
    for epoch in (2, 10, 9):
        (tmp_path / f"net-epoch={epoch}.ckpt").touch()
    assert latest_checkpoint(tmp_path) == str(tmp_path / "net-epoch=10.ckpt")
    (tmp_path / "last.ckpt").touch()
    assert latest_checkpoint(str(tmp_path)) == str(tmp_path / "last.ckpt")


def test_latest_file_of_a_model_directory(tmp_path):
    run = put(tmp_path / "2026-01-31_23-59-59", 9, 10)
    assert latest_checkpoint(tmp_path) == str(run / "model.10")


def test_mistakes_are_named(tmp_path):
    with pytest.raises(XShardsFileNotFoundError, match="nowhere"):
        find_checkpoint(tmp_path / "nowhere")
    for find in (find_checkpoint, latest_checkpoint):
        with pytest.raises(XShardsFileNotFoundError, match="no complete checkpoint"):
            find(tmp_path)
    put(tmp_path, 3, 20)
    with pytest.raises(XShardsValueError, match="has the versions 3, 20; got 4"):
        find_checkpoint(tmp_path, version=4)


def test_a_file_is_replaced_atomically(tmp_path):
    path = tmp_path / "deep" / "model.1"
    with written_whole(path) as aside:
        aside.write_bytes(b"first")
        assert not path.exists()
    with written_whole(path) as aside:
        aside.write_bytes(b"second")
        assert path.read_bytes() == b"first"
    assert path.read_bytes() == b"second"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_keeps_existing_files(tmp_path):
    path = tmp_path / "model.1"
    path.write_bytes(b"first")

    def fail():
        with written_whole(path) as aside:
            aside.write_bytes(b"half")
            raise RuntimeError("disk")

    with pytest.raises(RuntimeError, match="disk"):
        fail()
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_files_have_the_mode_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        with written_whole(tmp_path / "model.1"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "model.1").stat().st_mode & 0o777 == 0o640
    (tmp_path / "model.1").chmod(0o604)
    with written_whole(tmp_path / "model.1"):
        pass
    assert (tmp_path / "model.1").stat().st_mode & 0o777 == 0o604


def test_default_prefix_is_in_the_name(tmp_path):
    name = Checkpoint(tmp_path, 1).optimizer.name
    assert name == f"optimMethod-{checkpoints.DEFAULT_PREFIX}.1"
