# SPDX-License-Identifier: Apache-2.0
"""Check who includes whom: python -> learn -> ops -> xshards, and io -> xshards.

Inside a layer, FOLDER_ORDER says which folder may include which.

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

# Inside a layer a folder may include those in the rows before its own. Files of the layer
# itself may include all of its folders.
FOLDER_ORDER = {
    "xshards": (
        ("memory", "types", "output"),
        ("expression", "function", "storage"),
        ("plan",),
        ("optimizer",),
        ("execution",),
    ),
    "io": (
        ("fs", "options"),
        ("text",),
        ("scan",),
        ("columnar", "write"),
        ("csv", "json", "parquet", "ipc", "orc"),
    ),
    "ops": (
        ("kernels",),
        ("keys", "stream"),
        ("row", "sort"),
        ("distinct",),
        ("exchange", "aggregate", "join"),
    ),
    "learn": (("feed", "ps", "schedule"),),
}
# Declarations that every folder of a layer may include: forward declarations, export
# macros, and the headers that list what the folders define.
OPEN_TO_ALL = {
    "xshards/export.h",
    "xshards/type_fwd.h",
    "io/readers.h",
    "ops/executors.h",
}

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


def folder_rank(path: str) -> tuple[str, int] | None:
    """Return a file's folder and its row in FOLDER_ORDER; None for other layers."""
    layer, *rest = path.split("/")
    order = FOLDER_ORDER.get(layer)
    if order is None:
        return None
    if len(rest) == 1:
        return layer, len(order)
    for rank, folders in enumerate(order):
        if rest[0] in folders:
            return f"{layer}/{rest[0]}", rank
    return f"{layer}/{rest[0]}", -1


def check_folders(path: str, target: str) -> str | None:
    """Return what is wrong with an include inside one layer, None if nothing is."""
    source, wanted = folder_rank(path), folder_rank(target)
    if source is None or wanted is None or target in OPEN_TO_ALL:
        return None
    for folder, rank in (source, wanted):
        if rank < 0:
            return f"{folder}/ has no place in FOLDER_ORDER"
    if source[0] == wanted[0] or source[1] > wanted[1]:
        return None
    return f"{source[0]}/ may not include {wanted[0]}/: {target}"


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
    if source == wanted:
        return check_folders(path, target)
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
