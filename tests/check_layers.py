# SPDX-License-Identifier: Apache-2.0
"""Check who includes whom: python -> learn -> ops -> xshards, and io -> xshards.

Prints one line per violation, as path:line: what is wrong, and exits with 1 if any.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CPP_FOLDERS = ("xshards", "io", "ops", "learn")
FOLDERS = (*CPP_FOLDERS, "python")
MAY_INCLUDE = {
    "xshards": {"xshards"},
    "io": {"io", "xshards"},
    "ops": {"ops", "xshards"},
    "learn": {"learn", "ops", "xshards"},
    "python": {"python", "learn", "ops", "io", "xshards"},
}
# The umbrella header and the default operator table are the two that look upward.
LOOK_UPWARD = {"xshards/xshards.h", "xshards/default_operators.cc"}

# Third parties stay behind one door: the headers, and the files that may use them.
DOORS = (
    ("simdjson", r"simdjson(\.h|/)", r"io/json/"),
    ("fast-cpp-csv-parser", r"libfccp/", r"(io|tests/io|benchmarks/io)/"),
    ("oneTBB", r"(tbb|oneapi/tbb)[/.]", r"xshards/execution/thread_runner\.cc$"),
    ("LibTorch", r"(torch|ATen|c10)/", r"learn/replica/"),
    ("TensorFlow", r"tensorflow/", r"learn/replica/"),
    ("pybind11", r"pybind11/", r"python/src/"),
)

# These are written as a user of the installed package would.
USER_CODE = r"tests/(consumer/|readme_test\.cc$)"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def owner(path: str) -> str | None:
    """Return the layer folder a path or an include belongs to."""
    first = path.split("/", 1)[0]
    return first if first in FOLDERS and "/" in path else None


def check_include(path: str, bracket: str, target: str, root: Path) -> str | None:
    """Return what is wrong with one include of one file, None if nothing is."""
    for name, header, files in DOORS:
        if re.match(header, target):
            allowed = re.match(files, path)
            return None if allowed else f"{name} is not for this file: {target}"
    source, wanted = owner(path), owner(target)
    # <io/...> could be a stranger's header; it is ours when the file exists.
    exists = (root / target).is_file()
    if bracket == "<":
        if exists and not re.match(USER_CODE, path):
            return f'project includes are written "{target}", not <{target}>'
        return None
    if not exists:
        return f'"{target}" is not a file seen from the repository root'
    if source and wanted and wanted not in MAY_INCLUDE[source]:
        if path in LOOK_UPWARD:
            return None
        return f"{source}/ may not include {wanted}/: {target}"
    return None


def check_tree(root: Path) -> list[str]:
    """Return the violations in a source tree."""
    problems = []
    for folder in (*FOLDERS, "tests", "benchmarks"):
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.name == "__init__.py" and folder in CPP_FOLDERS:
                problems.append(f"{path}:1: would shadow the Python package")
            if file.suffix not in (".h", ".cc", ".cpp") or not file.is_file():
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if match := INCLUDE.match(line):
                    problem = check_include(path, *match.groups(), root)
                    if problem:
                        problems.append(f"{path}:{number}: {problem}")
    return problems


def main() -> int:
    """Check the tree this file belongs to, or the one named on the command line."""
    here = Path(__file__).resolve().parent.parent
    problems = check_tree(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
    print("\n".join(problems) if problems else "layers: ok")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
