# SPDX-License-Identifier: Apache-2.0
"""Unpack simdjson.h and simdjson.cpp into the folder named on the command line.

They come from the source distribution of pysimdjson, which pip downloads from the index
it is configured for and checks against the hash below. Nothing is downloaded when the
folder already holds the two files. CMake runs this when it configures a build without
them; set-up runs it before.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "pysimdjson"
VERSION = "7.0.2"  # carries simdjson 3.12.3
ARCHIVE = "44cf276e48912a3b9c7ca362c14da8420a7ac15a9f1a16ec95becff86db3904a"
FILES = {
    "simdjson.h": "d930dbc24ecba8fb7fcba534e1932375964bb2fab82a396d3b810b42968c1863",
    "simdjson.cpp": "17a1e9b70a8cc0a5be3b3e95ddb26838bcebdc8bb6cb93980a9628b065cbaf72",
}


def is_complete(folder: Path) -> bool:
    """Return whether the folder holds both files, unchanged."""
    return all(
        (folder / name).is_file()
        and hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        for name, digest in FILES.items()
    )


def download(folder: Path) -> Path:
    """Download the source distribution with pip and return its path."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{ARCHIVE}\n")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet"),
            *("--disable-pip-version-check", "--require-hashes", "--no-deps"),
            *("--no-binary", PACKAGE, "--dest", folder, "--requirement", requirements),
        ],
        check=True,
        stdout=sys.stderr,
    )
    return folder / f"{PACKAGE}-{VERSION}.tar.gz"


def unpack(archive: Path, folder: Path) -> None:
    """Write the two files; each appears whole or not at all."""
    with tarfile.open(archive) as members:
        for name in FILES:
            member = members.extractfile(f"{PACKAGE}-{VERSION}/simdjson/{name}")
            assert member is not None
            partial = folder / f".{name}.{os.getpid()}"
            partial.write_bytes(member.read())
            partial.replace(folder / name)


def main() -> int:
    """Fill the folder if it is not complete yet."""
    folder = Path(sys.argv[1])
    if is_complete(folder):
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            unpack(download(Path(scratch)), folder)
        except subprocess.CalledProcessError:
            sys.exit(
                f"Could not download {PACKAGE} {VERSION} with pip. Without a network, "
                f"put simdjson.h and simdjson.cpp of simdjson 3.12.3 into {folder}, or "
                "name their folder with -DXSHARDS_SIMDJSON_DIR"
            )
    if not is_complete(folder):
        sys.exit(f"{folder} does not hold the expected simdjson.h and simdjson.cpp")
    return 0


if __name__ == "__main__":
    sys.exit(main())
