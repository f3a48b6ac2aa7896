# SPDX-License-Identifier: Apache-2.0
"""Output beside output, and what is left when writing fails."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest
from frames import assert_same

import xshards as xs

FORMS = ["csv", "json", "parquet", "ipc"]


def write(form, directory, values, **options):
    shards = xs.from_pandas(pd.DataFrame({"a": values}), 2)
    return getattr(shards, f"to_{form}")(directory, **options)


def read(form, directory):
    return list(getattr(xs, f"read_{form}")(directory).to_pandas()["a"])


@pytest.mark.parametrize("form", FORMS)
def test_modes(tmp_path, form):
    out = tmp_path / "out"
    write(form, out, [1, 2, 3], mode="append")  # nothing is there yet
    with pytest.raises(OSError, match="not empty"):
        write(form, out, [4, 5])
    paths = write(form, out, [4, 5], mode="append")
    assert [Path(path).name[:10] for path in paths] == ["part-00002", "part-00003"]
    assert read(form, out) == [1, 2, 3, 4, 5]
    paths = write(form, out, [6, 7], mode="overwrite")
    assert sorted(map(str, out.iterdir())) == paths
    assert read(form, out) == [6, 7]
    assert list(tmp_path.iterdir()) == [out]
    with pytest.raises(ValueError, match="'replace'"):
        write(form, out, [1, 2], mode="replace")


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("form", FORMS)
def test_a_failure_leaves_what_was_there(tmp_path, form, mode):
    def fail(df):
        if df["a"].iloc[0] == 3:
            raise RuntimeError("on purpose")
        return df

    out = tmp_path / "out"
    write(form, out, [1, 2])
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3, 4]}), 4).transform_shard(fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        getattr(shards, f"to_{form}")(out, mode=mode)
    assert read(form, out) == [1, 2]
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("compression", [None, "zstd", "gzip", "brotli", "lz4"])
def test_parquet_compression(tmp_path, compression):
    df = pd.DataFrame({"a": range(1000), "s": ["x", "yy"] * 500})
    xs.from_pandas(df, 2).to_parquet(tmp_path, compression=compression)
    assert_same(xs.read_parquet(tmp_path).to_pandas(), df)


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_ipc_compression(tmp_path, compression):
    df = pd.DataFrame({"a": range(1000), "s": ["x", "yy"] * 500})
    xs.from_pandas(df, 2).to_ipc(tmp_path, compression=compression)
    assert_same(xs.read_ipc(tmp_path).to_pandas(), df)


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path, form):
    out = tmp_path / "out"
    write(form, out, [1, 2])
    script = f"""
        import resource
        import numpy as np
        import pandas as pd
        import xshards as xs
        xs.init(cores=1, progress=False)
        df = pd.DataFrame({{"a": np.random.default_rng(0).random(200_000)}})
        shards = xs.from_pandas(df, 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            shards.to_{form}({str(out)!r}, mode="overwrite")
        except xs.XShardsError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Could not write" in done.stdout, done.stderr
    assert "File too large" in done.stdout
    assert read(form, out) == [1, 2]
    assert list(tmp_path.iterdir()) == [out]
