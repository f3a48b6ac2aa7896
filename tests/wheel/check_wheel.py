# SPDX-License-Identifier: Apache-2.0
"""Check that the installed wheel is portable: `make test-wheel` runs it.

Usage: check_wheel.py <wheel>, in an environment where that wheel is installed.
"""

from __future__ import annotations

import fnmatch
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa

import xshards as xs

BUNDLED = ["libtbb-*.so*", "liblzma-*.so*"]
FROM_PYARROW = ["libarrow*.so*", "libparquet*.so*"]


def matching(names: list[str], pattern: str) -> list[str]:
    """Return the paths whose file name matches a pattern."""
    return [name for name in names if fnmatch.fnmatch(Path(name).name, pattern)]


def check_contents(wheel: Path) -> None:
    """Check the wheel's tag and which libraries it carries."""
    assert "manylinux" in wheel.name, wheel.name
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    for pattern in BUNDLED:
        found = matching(names, pattern)
        assert len(found) == 1, (pattern, found)
        assert found[0].startswith("xshards.libs/"), found
    for pattern in FROM_PYARROW:
        assert not matching(names, pattern), matching(names, pattern)
    for library in ("libxshards.so", "_core.*.so"):
        (name,) = matching(names, library)
        content = archive.read(name)
        assert b"$ORIGIN/../pyarrow" in content, name
        assert not re.search(rb"\$ORIGIN[^\0]*:/", content), f"{name}: absolute RPATH"


def check_engine() -> None:
    """Run the CSV reader, a filter and an aggregate."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "numbers.csv")
        path.write_text("key,value\na,1\nb,2\na,3\n")
        shards = xs.read_csv(str(path))
        late = shards.filter(xs.col("value") > 1)
        sums = late.group_by("key", {"value": "sum"}).to_pandas()
    assert dict(zip(sums.iloc[:, 0], sums.iloc[:, 1], strict=True)) == {"a": 3, "b": 2}


def check_loaded() -> None:
    """Check that no library of this process comes from the system by chance."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    loaded = sorted({line.split()[-1] for line in lines if ".so" in line})
    package = Path(xs.__file__).parent
    bundled = str(package.parent / "xshards.libs")
    for pattern in BUNDLED:
        found = matching(loaded, pattern)
        assert found, (pattern, loaded)
        assert all(name.startswith(bundled) for name in found), found
    assert not matching(loaded, "libtbb.so*"), loaded
    arrow = str(Path(pa.__file__).parent)
    for pattern in FROM_PYARROW:
        found = matching(loaded, pattern)
        assert found, (pattern, loaded)
        assert all(name.startswith(arrow) for name in found), found


if __name__ == "__main__":
    wheel_path = Path(sys.argv[1])
    check_contents(wheel_path)
    check_engine()
    check_loaded()
    print(f"wheel: {wheel_path.name} reads a CSV file with its own libraries")
