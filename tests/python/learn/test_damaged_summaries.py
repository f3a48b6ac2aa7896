# SPDX-License-Identifier: Apache-2.0
"""Event files of others: an error of ours that names the file, in little memory."""

import os
import random
import struct
import tracemalloc

import pytest

from xshards.errors import XShardsValueError
from xshards.learn.training.summaries import event_files as summary
from xshards.learn.training.summaries.event_files import SummaryWriter, read_events

GOOD = (
    summary._double(1, 1.5)
    + summary._key(2, 0)
    + summary._varint(7)
    + summary._bytes(5, summary._bytes(1, summary._bytes(1, b"t") + b"\x15\0\0\x80?"))
)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + summary._checksum(length) + data + summary._checksum(data)


def write(folder, *events):
    path = folder / "events.out.tfevents.1"
    path.write_bytes(b"".join(map(record, events)))
    return path


def in_summary(value):
    return summary._bytes(5, summary._bytes(1, value))


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(b"\x80", id="a key without an end"),
        pytest.param(b"\x10", id="a step that is missing"),
        pytest.param(b"\x10" + b"\xff" * 1000 + b"\0", id="a step of 1,000 bytes"),
        pytest.param(b"\x09\0\0", id="a time of two bytes"),
        pytest.param(b"\x2a\xff\xff\xff\xff\x0f", id="a summary of 4 GB"),
        pytest.param(b"\x2b", id="a group"),
        pytest.param(in_summary(b"\x0a\x01\xff\x15\0\0\0\0"), id="a tag in Latin 1"),
        pytest.param(in_summary(b"\x0a\x01t\x15\0\0"), id="a value of two bytes"),
    ],
)
def test_a_damaged_event_is_an_error_of_ours(event, tmp_path):
    path = write(tmp_path, event)
    with pytest.raises(XShardsValueError, match=f"{path.name} is damaged: "):
        list(read_events(tmp_path))


def test_events_before_the_damage_are_read(tmp_path):
    write(tmp_path, GOOD, b"\x80")
    events = read_events(tmp_path)
    assert next(events) == summary.Scalar("t", 7, 1.0, 1.5)
    with pytest.raises(XShardsValueError, match="has no end"):
        next(events)


def test_fields_written_in_another_way_are_ignored(tmp_path):
    # The time as 3 bytes, the step as bytes, the tag as a number.
    odd = summary._bytes(1, b"abc") + summary._bytes(2, b"xy")
    write(tmp_path, odd + in_summary(b"\x08\x05\x15\0\0\0\0"), GOOD)
    assert [event.tag for event in read_events(tmp_path)] == ["t"]


def test_no_more_is_allocated_than_the_file_has(tmp_path):
    path = write(tmp_path, GOOD)
    length = struct.pack("<Q", 1 << 34)
    with path.open("ab") as file:
        file.write(length + summary._checksum(length) + b"the beginning")
    tracemalloc.start()
    try:
        # As a record that is still being written.
        assert len(list(read_events(tmp_path))) == 1
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_what_is_no_file_is_left_out(tmp_path):
    os.mkfifo(tmp_path / "events.out.tfevents.0")
    (tmp_path / "events.out.tfevents.2").mkdir()
    write(tmp_path, GOOD)
    assert len(list(read_events(tmp_path))) == 1


def test_any_changed_event_is_read_or_an_error_of_ours(tmp_path):
    draw = random.Random(7)
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("Loss", 1, 1)
    path = writer.path
    for _ in range(2000):
        event = bytearray(GOOD)
        for _ in range(draw.randint(1, 3)):
            event[draw.randrange(len(event))] = draw.randrange(256)
        path.write_bytes(record(bytes(event[: draw.randint(1, len(event))])))
        try:
            events = list(read_events(tmp_path))
        except XShardsValueError:
            continue
        assert all(-(2**63) <= event.step < 2**63 for event in events)
