# SPDX-License-Identifier: Apache-2.0
"""What the C++ library throws where memory or threads end: our errors, with a place."""

import ctypes
import subprocess
import sys
import textwrap

import pandas as pd
import pytest

import xshards as xs


def run(code):
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_the_end_of_memory_in_a_call_names_its_caller():
    done = run(
        """
        import resource
        from pathlib import Path
        from xshards import _core, errors

        def keep_much():
            _core.Payload.from_tensors([], text)

        text = "x" * (64 << 20)
        errors.XShardsMemoryError
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + (16 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            keep_much()
        except errors.XShardsMemoryError as error:
            print(error)
        """
    )
    assert done.stdout == "keep_much: the system has no more memory\n", done.stderr


@pytest.fixture
def no_more_threads():
    """Give new threads stacks that no process can have."""
    libc = ctypes.CDLL(None)
    before, large = (ctypes.create_string_buffer(256) for _ in range(2))
    assert libc.pthread_getattr_default_np(before) == 0
    assert libc.pthread_getattr_default_np(large) == 0
    assert libc.pthread_attr_setstacksize(large, ctypes.c_size_t(1 << 60)) == 0
    assert libc.pthread_setattr_default_np(large) == 0
    yield
    assert libc.pthread_setattr_default_np(before) == 0


def test_an_action_that_cannot_start_is_an_error(no_more_threads):
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 2)
    with pytest.raises(xs.XShardsError, match=r"^Starting an action: "):
        shards.to_pandas()
