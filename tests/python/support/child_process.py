# SPDX-License-Identifier: Apache-2.0
"""Code that may end its process: run in one of its own."""

import subprocess
import sys
import textwrap


def run_in_child(code, *arguments, timeout=120):
    """Run code in a new interpreter; return its output, or fail with what it said."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, (
        f"exit code {done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
    )
    return done.stdout
