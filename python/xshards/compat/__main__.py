# SPDX-License-Identifier: Apache-2.0
"""Run an Orca script: ``python -m xshards.compat [--shadow] script.py [args]``."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from xshards.compat.finder import install


def main(arguments: list[str]) -> None:
    """Install the names of Orca and run a script, or a module after ``-m``."""
    parser = argparse.ArgumentParser(
        prog="python -m xshards.compat",
        description="Run a script written for zoo.orca or bigdl.orca.",
    )
    parser.add_argument(
        "--shadow",
        action="store_true",
        help="use these modules even if zoo or bigdl are installed",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="a module")
    parser.add_argument("script", help="the script to run, or the module's name")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    options = parser.parse_args(arguments)
    install(shadow=options.shadow)
    sys.argv = [options.script, *options.args]
    if options.module:
        sys.path[0] = str(Path.cwd())
        runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        return
    script = Path(options.script)
    if not script.is_file():
        parser.error(f"there is no script {options.script!r}")
    # The folder of the script, as Python itself would put first.
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
