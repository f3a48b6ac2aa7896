# SPDX-License-Identifier: Apache-2.0
"""Check who includes whom: python -> learn -> ops -> xshards, and io -> xshards.

Inside a layer, FOLDER_ORDER says which folder may include which; inside python/xshards,
PYTHON_ORDER says which package may import which.

Prints one line per violation, as path:line: what is wrong, and exits with 1 if any.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

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

# Inside a layer, or a folder of it, a folder may include those in rows before its own.
# Files of the layer itself may include all of its folders.
FOLDER_ORDER = {
    "xshards": (
        ("memory", "types", "output"),
        ("expression", "function", "storage"),
        ("plan",),
        ("optimizer",),
        ("execution",),
    ),
    "xshards/execution": (("fragments",), ("planner",), ("stages",)),
    "io": (
        ("fs", "options"),
        ("text",),
        ("scan",),
        ("columnar", "write"),
        ("csv", "json", "parquet", "ipc", "orc", "tfrecord"),
    ),
    "io/csv": (("parse",), ("convert",), ("plan",)),
    "ops": (
        ("kernels",),
        ("keys", "stream"),
        ("row", "sort"),
        ("exchange", "aggregate", "join"),
        ("distinct",),
    ),
    "learn": (("feed", "ps", "schedule"), ("replica",)),
    "learn/ps": (("region", "update"),),
    "python/src": (("convert",), ("run",), ("bind",)),
}
# Declarations that every folder beside them may include: forward declarations, export
# macros, options, and the headers that list what the folders define.
OPEN_TO_ALL = {
    "xshards/catch_exceptions.h",
    "xshards/export.h",
    "xshards/type_fwd.h",
    "io/readers.h",
    "io/writers.h",
    "io/csv/options.h",
    "io/csv/scan_options.h",
    "io/csv/text_format.h",
    "ops/executors.h",
    "python/src/bindings.h",
}

# Frameworks are used from Python.
NO_FILE = r"(?!)"
# Third parties stay behind one door: the headers, and the files that may use them.
DOORS = (
    ("simdjson", r"simdjson(\.h|\.cpp|/)", r"io/json/"),
    ("fast-cpp-csv-parser", r"libfccp/", r"(io|tests/io|benchmarks/io)/"),
    (
        "oneTBB",
        r"(tbb|oneapi/tbb)[/.]",
        r"xshards/execution/fragments/thread_runner\.cc$",
    ),
    ("LibTorch", r"(torch|ATen|c10)/", NO_FILE),
    ("TensorFlow", r"tensorflow/", NO_FILE),
    ("pybind11", r"pybind11/", r"python/src/"),
)

# These are written as a user of the installed package would.
USER_CODE = r"tests/(consumer/|readme_test\.cc$)"

# Packages of python/xshards: a package may import those of its row and of rows before
# it. Imports inside functions and under TYPE_CHECKING are exempt.
PYTHON_ORDER = (
    ("_core", "_pandas_errors", "_util", "errors"),
    ("interop",),
    ("profile", "runtime"),
    ("context",),
    ("compute", "expressions"),
    ("io", "shards", "shared_value"),
    ("transformer", "xshards"),
    (
        *("learn", "learn.callbacks", "learn.checks", "learn.feeder", "learn.history"),
        *("learn.metrics", "learn.monitor", "learn.optimizers", "learn.training"),
        *("learn.row_weights", "learn.trigger"),
    ),
    (
        *("learn.bigdl", "learn.mxnet", "learn.openvino", "learn.pytorch", "learn.tf"),
        "learn.tf1",
    ),
    ("compat",),
    ("demo",),
)
# Frameworks are optional: none may need another, though they share a row.
PYTHON_APART = PYTHON_ORDER[-3]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def owner(path: str) -> str | None:
    """Return the layer folder a path or an include belongs to."""
    first = path.split("/", 1)[0]
    return first if first in FOLDERS and "/" in path else None


def folder_rank(path: str, above: str) -> tuple[str, int]:
    """Return the folder of a file in `above`, and its row in FOLDER_ORDER or -1."""
    order = FOLDER_ORDER[above]
    name, *rest = path.removeprefix(f"{above}/").split("/")
    if not rest:
        return above, len(order)
    for rank, folders in enumerate(order):
        if name in folders:
            return f"{above}/{name}", rank
    return f"{above}/{name}", -1


def common_folder(path: str, target: str) -> str:
    """Return the deepest folder that holds both files."""
    common = []
    for one, other in zip(path.split("/")[:-1], target.split("/")[:-1], strict=False):
        if one != other:
            break
        common.append(one)
    return "/".join(common)


def check_folders(path: str, target: str) -> str | None:
    """Return what is wrong with an include inside one layer, None if nothing is."""
    above = common_folder(path, target)
    folder = target.rpartition("/")[0]
    if owner(path) is None or path.rpartition("/")[0] == folder:
        return None
    if target in OPEN_TO_ALL and folder == above:
        return None
    if above not in FOLDER_ORDER:
        return f"{above}/ has no order of its folders in FOLDER_ORDER"
    source, wanted = folder_rank(path, above), folder_rank(target, above)
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


def python_package(module: str) -> str:
    """Return the name of a module's package in PYTHON_ORDER."""
    parts = module.split(".")[1:]
    if parts[:1] == ["learn"]:
        return ".".join(parts[:2])
    return parts[0] if parts else "xshards"


def python_imports(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Yield the line and name of modules of xshards that a module imports on top."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from python_imports(node.orelse)
        elif isinstance(node, ast.If | ast.Try):
            handlers = [s for h in getattr(node, "handlers", []) for s in h.body]
            yield from python_imports([*node.body, *node.orelse, *handlers])
        elif isinstance(node, ast.ImportFrom) and node.module == "xshards":
            yield from ((node.lineno, f"xshards.{name.name}") for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)


def check_import(source: str, wanted: str) -> str | None:
    """Return what is wrong with one package importing another, None if nothing is."""
    row = {name: n for n, names in enumerate(PYTHON_ORDER) for name in names}
    for name in (source, wanted):
        if name not in row:
            return f"{name} has no row in PYTHON_ORDER of tests/check_layers.py"
    if source == wanted:
        return None
    if row[wanted] > row[source]:
        return f"{source} may not import {wanted}, which comes after it"
    if source in PYTHON_APART and wanted in PYTHON_APART:
        return f"{source} may not import {wanted}: frameworks stay apart"
    return None


def check_python(root: Path) -> list[str]:
    """Return the imports of python/xshards that go against the order of packages."""
    problems = []
    package = root / "python" / "xshards"
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(root).as_posix()
        parts = file.relative_to(root / "python").with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        for line, wanted in python_imports(ast.parse(file.read_text()).body):
            if wanted.split(".")[0] != "xshards":
                continue
            problem = check_import(python_package(module), python_package(wanted))
            if problem:
                problems.append(f"{path}:{line}: {problem}: {wanted}")
    return problems


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
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else here
    problems = [*check_tree(root), *check_python(root)]
    print("\n".join(problems) if problems else "layers: ok")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
