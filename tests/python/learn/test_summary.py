# SPDX-License-Identifier: Apache-2.0
"""Event files: written here and read by TensorBoard, and the other way round."""

import gc
import math
import struct
import warnings

import numpy as np
import pytest

from xshards.errors import XShardsRuntimeError, XShardsValueError
from xshards.learn.training.summaries import event_files as summary
from xshards.learn.training.summaries.event_files import (
    SummaryWriter,
    read_events,
    read_scalar,
)


def tensorboard_scalars(folder, tag):
    """Read with TensorBoard's own reader, all that it has."""
    # It uses names that protobuf, absl and numpy have given up.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip(
            "tensorboard.backend.event_processing.event_accumulator"
        )
        reader = module.EventAccumulator(str(folder), size_guidance={module.SCALARS: 0})
        reader.Reload()
        return [
            (event.step, event.value, event.wall_time) for event in reader.Scalars(tag)
        ]


def test_tensorboard_reads_what_was_written(tmp_path):
    steps = [0, 1, 127, 128, 300, 70_000, 2**40]
    values = [0.5, -1.25, 1e-30, 3e38, 0.1, math.inf, 7]
    with SummaryWriter(tmp_path) as writer:
        for step, value in zip(steps, values, strict=True):
            writer.add_scalar("train/Loss ü", value, step, wall_time=1700000000 + step)
            writer.add_scalar("Other", -value, step)
    expected = [
        (step, float(np.float32(value)), 1700000000 + step)
        for step, value in zip(steps, values, strict=True)
    ]
    assert tensorboard_scalars(tmp_path, "train/Loss ü") == expected
    assert [tuple(row) for row in read_scalar(tmp_path, "train/Loss ü")] == expected


def test_a_thousand_events_of_all_lengths(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(1000):
            writer.add_scalar("t" * (1 + step % 300), step / 7, step)
    assert [e.step for e in read_events(tmp_path)] == list(range(1000))
    assert [row[0] for row in tensorboard_scalars(tmp_path, "t" * 300)] == [
        299,
        599,
        899,
    ]


def test_several_writers_of_one_directory(tmp_path):
    writers = [SummaryWriter(tmp_path) for _ in range(12)]
    assert len({writer.path for writer in writers}) == 12
    for step, writer in enumerate(writers):
        writer.add_scalar("Loss", step, step)
        writer.close()
    values = [row[:2] for row in read_scalar(tmp_path, "Loss")]
    assert values == [[step, step] for step in range(12)]


def test_reads_what_torch_writes(tmp_path):
    pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensorboard = pytest.importorskip("torch.utils.tensorboard")
        with tensorboard.SummaryWriter(str(tmp_path)) as writer:
            writer.add_text("note", "not a scalar")
            for step in range(3):
                writer.add_scalar("Loss", step / 2, step)
    assert [row[:2] for row in read_scalar(tmp_path, "Loss")] == [
        [0, 0],
        [1, 0.5],
        [2, 1],
    ]


def test_a_reader_sees_what_was_flushed(tmp_path):
    writer = SummaryWriter(tmp_path)
    assert read_scalar(tmp_path, "Loss") == []
    writer.add_scalar("Loss", 1, 0)
    writer.flush()
    assert len(read_scalar(tmp_path, "Loss")) == 1
    writer.close()
    writer.close()
    with pytest.raises(XShardsRuntimeError, match="closed"):
        writer.add_scalar("Loss", 1, 1)


def test_a_garbage_collected_writer_has_written(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("Loss", 1, 0)
    del writer
    gc.collect()
    assert len(read_scalar(tmp_path, "Loss")) == 1


def test_no_directory_has_no_scalars(tmp_path):
    assert read_scalar(tmp_path / "none", "Loss") == []


def test_values_beyond_float32(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step, value in enumerate([1e300, -1e300, math.nan, np.float64(2), 3]):
            writer.add_scalar("Loss", value, step)
    values = [row[1] for row in read_scalar(tmp_path, "Loss")]
    assert values[:2] == [math.inf, -math.inf]
    assert math.isnan(values[2])
    assert values[3:] == [2, 3]


def test_a_truncated_record_ends_the_file(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("Loss", 1, 1)
        writer.add_scalar("Loss", 2, 2)
    whole = writer.path.read_bytes()
    for cut in (1, 5, 20, 40):
        writer.path.write_bytes(whole[:-cut])
        assert [row[0] for row in read_scalar(tmp_path, "Loss")] == [1]


@pytest.mark.parametrize("at", [0, 9, 14, -1])
def test_damage_is_detected(tmp_path, at):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("Loss", 1, 1)
    data = bytearray(writer.path.read_bytes())
    data[at] ^= 1
    writer.path.write_bytes(data)
    with pytest.raises(XShardsValueError, match=f"{writer.path.name} is damaged"):
        read_scalar(tmp_path, "Loss")


def test_checksum_of_the_standard():
    # CRC-32C of "123456789" is e3069283; the mask is that of the format.
    masked = ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert summary._checksum(b"123456789") == struct.pack("<I", masked)


def test_negative_steps_come_back(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("Loss", 1, -3)
    assert read_scalar(tmp_path, "Loss")[0][0] == -3
