# SPDX-License-Identifier: Apache-2.0
"""What functions print and log reaches the driver."""

import logging
import os
import re
import subprocess
import sys
import threading
import time

import pandas as pd
import psutil
import pytest

import xshards as xs


@pytest.fixture
def numbers():
    return xs.from_pandas(pd.DataFrame({"a": range(10)}), 3)


def test_print_is_passed_on_by_line_with_a_prefix(numbers, capsys):
    def talk(df):
        print(f"first {len(df)}\nséc", end="")
        print("ond", len(df))
        print("warn", len(df), file=sys.stderr)
        return len(df)

    numbers.transform_shard(talk).collect()
    found = capsys.readouterr()
    lines = found.out.splitlines()
    assert all(re.match(r"\[worker [01]\] ", line) for line in lines)
    assert sorted(line[11:] for line in lines) == sorted(
        [f"first {n}" for n in (4, 3, 3)] + [f"sécond {n}" for n in (4, 3, 3)]
    )
    assert sorted(line[11:] for line in found.err.splitlines()) == [
        "warn 3",
        "warn 3",
        "warn 4",
    ]


def test_output_of_c_code_and_of_child_processes(numbers, capsys):
    def talk(df):
        os.write(1, b"from C\n")
        os.write(2, b"\xff broken\n")
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)

    numbers.repartition(1).transform_shard(talk).collect()
    found = capsys.readouterr()
    assert found.out == "[worker 0] from C\n[worker 0] from a child\n" or (
        found.out == "[worker 1] from C\n[worker 1] from a child\n"
    )
    assert "\N{REPLACEMENT CHARACTER} broken" in found.err


def test_output_comes_while_the_function_runs(numbers, capsys, tmp_path):
    def wait(df):
        print("begun")
        deadline = time.monotonic() + 30
        while not (tmp_path / "seen").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    seen = []

    def look():
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            seen.append(capsys.readouterr().out)
            if "begun" in seen[-1]:
                break
            time.sleep(0.02)
        (tmp_path / "seen").touch()

    watcher = threading.Thread(target=look)
    watcher.start()
    numbers.repartition(1).transform_shard(wait).collect()
    watcher.join()
    assert "begun" in "".join(seen)


def test_output_of_a_dying_worker_is_shown(numbers, capsys, tmp_path):
    def die(df):
        if not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            print("farewell", end="", flush=True)
            os._exit(1)

    numbers.repartition(1).transform_shard(die).collect()
    assert re.fullmatch(r"\[worker [01]\] farewell\n", capsys.readouterr().out)


def test_a_crash_prints_a_traceback(numbers, capsys):
    def crash(df):
        import ctypes

        ctypes.string_at(0)

    with pytest.raises(xs.XShardsError, match="SIGSEGV"):
        numbers.transform_shard(crash).collect()
    assert "in crash" in capsys.readouterr().err


def test_functions_that_close_stdout(numbers, capsys):
    def close(df):
        print("before")
        sys.stdout.close()
        os.close(1)
        os.close(2)
        return df  # goes to a segment, which must not become descriptor 1

    one = numbers.repartition(1)
    closed = one.transform_shard(close)
    assert list(closed.to_pandas()["a"]) == list(range(10))
    one.transform_shard(lambda df: print("after")).collect()
    assert list(closed.to_pandas()["a"]) == list(range(10))
    out = capsys.readouterr().out
    assert "before" in out
    assert "after" in out


def test_very_long_lines_and_much_output(numbers, capsys):
    def talk(df):
        print("x" * 300_000)
        for number in range(20_000):
            print(number)

    numbers.repartition(1).transform_shard(talk).collect()
    text = re.sub(r"\[worker [01]\] ", "", capsys.readouterr().out)
    assert text.count("x") == 300_000
    assert text.split("\n")[-20_001:-1] == [str(n) for n in range(20_000)]


def test_endless_output_neither_blocks_nor_fills_memory(numbers, monkeypatch):
    class Sink:
        written = 0

        def write(self, text):
            self.written += len(text)

        def flush(self):
            pass

    sink = Sink()
    monkeypatch.setattr(sys, "stdout", sink)

    def shout(df):
        def forever():
            while True:
                print("x" * 1000)

        threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.5)
        return len(df)

    before = psutil.Process().memory_info().rss
    mapped = numbers.transform_shard(shout)
    assert mapped.collect() == [4, 3, 3]
    # And the workers that still shout can be used and stopped.
    assert numbers.transform_shard(len).collect() == [4, 3, 3]
    xs.context.default_context().close()
    assert sink.written > 1_000_000
    assert psutil.Process().memory_info().rss - before < 100_000_000


def test_log_records_keep_their_logger_and_level(numbers, caplog):
    logger = logging.getLogger("my.model")

    def talk(df):
        log = logging.getLogger("my.model")
        log.debug("hidden")
        log.info("found %d rows", len(df))
        try:
            1 / 0  # noqa: B018
        except ZeroDivisionError:
            log.exception("failed")
        logging.getLogger("other").info("hidden too")

    with caplog.at_level(logging.INFO, logger="my.model"):
        numbers.repartition(1).transform_shard(talk).collect()
    assert [(r.name, r.levelno) for r in caplog.records] == [
        ("my.model", logging.INFO),
        ("my.model", logging.ERROR),
    ]
    assert re.fullmatch(r"\[worker [01]\] found 10 rows", caplog.messages[0])
    assert "ZeroDivisionError" in caplog.text
    # Levels follow those of the driver, also down again.
    caplog.clear()
    assert logger.level == logging.NOTSET
    numbers.repartition(1).transform_shard(lambda df: talk(df)).collect()
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_records_that_are_awkward(numbers, caplog):
    def talk(df):
        logging.warning("object %s", threading.Lock(), extra={"lock": threading.Lock()})
        logging.warning("long %s", "y" * 1_000_000)
        logging.warning("100% true")

    numbers.repartition(1).transform_shard(talk).collect()
    first, second, third = caplog.messages
    assert "object <unlocked" in first
    assert second.count("y") > 10_000
    assert "more characters" in second
    assert third.endswith("100% true")


def test_the_progress_bar_counts_partitions(capsys):
    shown = []
    shards = xs.from_pandas(pd.DataFrame({"a": range(6)}), 6)
    mapped = shards.transform_shard(lambda df: time.sleep(0.1))
    mapped._core.collect(lambda *state: shown.append(state))
    assert {total for _, _, _, total in shown} == {6}
    assert shown[-1][2] > shown[0][2]
