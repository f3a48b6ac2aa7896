# SPDX-License-Identifier: Apache-2.0
"""Run clang-tidy on the sources of build/dev, or only on the changed ones.

The compile commands are rewritten first: they name GCC's precompiled header and flags
that clang does not read.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATABASE = ROOT / "build" / "dev" / "compile_commands.json"
OUTPUT = ROOT / "build" / "tidy"
GCC_ONLY = {"-fpch-preprocess", "-Winvalid-pch"}


def clang_arguments(entry: dict[str, str]) -> list[str]:
    """Return the compile command without launcher, precompiled header and GCC flags."""
    words = shlex.split(entry["command"])
    compiler = next(i for i, w in enumerate(words) if re.search(r"(\+\+|clang)", w))
    kept = [words[compiler]]
    rest = iter(words[compiler + 1 :])
    for word in rest:
        if word == "-include":
            next(rest)
        elif word not in GCC_ONLY:
            kept.append(word)
    # libstdc++ 12 has std::stable_sort call what it says is deprecated; GCC's own
    # warnings, which the build turns off, clang does not know.
    return [*kept, "-Wno-deprecated-declarations", "-Wno-unknown-warning-option"]


def git(*arguments: str) -> list[str]:
    """Return the output lines of a git command, none when it fails."""
    command = ["git", "-C", str(ROOT), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.splitlines() if result.returncode == 0 else []


def changed_since_release() -> set[str] | None:
    """Return the paths changed since the last release, None for all of them.

    Before the first release tag the start is where the branch left origin/main, and on
    main itself the commit before.
    """
    base = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    if not base:
        base = git("merge-base", "origin/main", "HEAD")
        if not base or base == git("rev-parse", "HEAD"):
            base = git("rev-parse", "--verify", "-q", "HEAD~1")
    if not base:
        return None
    committed = git("diff", "--name-only", base[0])
    return {*committed, *git("ls-files", "--others", "--exclude-standard")}


def main() -> int:
    """Run clang-tidy and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changed", action="store_true", help="only changed sources")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()

    entries = {
        e["file"]: {
            "directory": e["directory"],
            "file": e["file"],
            "arguments": clang_arguments(e),
        }
        for e in json.loads(DATABASE.read_text())
        if not Path(e["file"]).is_relative_to(ROOT / "build")
    }
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "compile_commands.json").write_text(json.dumps([*entries.values()]))

    names = sorted(str(Path(file).relative_to(ROOT)) for file in entries)
    changed = changed_since_release() if options.changed else None
    if changed is not None:
        # A changed header is seen through the source of the same name.
        stems = {str(Path(name).with_suffix("")) for name in changed}
        names = [name for name in names if str(Path(name).with_suffix("")) in stems]

    def check(name: str) -> tuple[str, int, str]:
        tool = str(Path(sys.executable).parent / "clang-tidy")
        command = [tool, "--quiet", "-p", str(OUTPUT), str(ROOT / name)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return name, result.returncode, result.stdout + result.stderr

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, status, text in pool.map(check, names):
            if status:
                failures += 1
                print(f"{name}:\n{text}", flush=True)
    print(f"clang-tidy: {len(names)} files, {failures} with findings")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
