# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: imports, version check, demo."""

import re
import subprocess
import sys

import xshards as xs


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )


def test_import_is_light():
    heavy = {"torch", "tensorflow", "polars", "tqdm"}
    code = f"import sys, xshards; print(sorted({heavy} & set(sys.modules)))"
    assert run(code).stdout == "[]\n"


def test_reading_and_writing_need_no_pandas(tmp_path):
    (tmp_path / "a.csv").write_text('a,b\n1,"x"\n2,"y\nz"\n')
    code = f"""
import sys, xshards as xs
shards = xs.read_csv({str(tmp_path / "a.csv")!r}).cache()
some = shards[(xs.col("a") > 0) & (xs.col("b") != "q") & (xs.col("a") < 2.5)]
assert some.group_by("b", {{"a": "sum"}}).count() == 2
assert len(shards.to_parquet({str(tmp_path / "out")!r})) == 1
assert xs.read_parquet({str(tmp_path / "out")!r}).to_arrow().num_rows == 2
print([name for name in ("pandas", "pyarrow.compute") if name in sys.modules])
print(type(shards.to_pandas()))
"""
    ran = run(code)
    assert ran.stdout == "[]\n<class 'pandas.DataFrame'>\n", ran.stderr


def test_workers_have_pandas_from_their_parent(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    code = f"""
import sys, xshards as xs, psutil
def loaded(part):
    maps = psutil.Process(psutil.Process().ppid()).memory_maps()
    return any("pandas" in each.path for each in maps)
print(xs.read_csv({str(tmp_path / "a.csv")!r}).transform_shard(loaded).collect())
"""
    ran = run(code)
    assert ran.stdout == "[True]\n", ran.stderr


def test_import_starts_no_process_and_makes_no_context():
    code = (
        "import xshards, xshards.context, psutil; "
        "print(xshards.context._default, psutil.Process().children())"
    )
    assert run(code).stdout == "None []\n"


def test_wrong_arrow_version_names_the_fix():
    code = "import pyarrow; pyarrow.__version__ = '25.0.0'; import xshards"
    assert 'pip install "pyarrow>=26,<27"' in run(code).stderr


def test_all_names_exist():
    for name in xs.__all__:
        assert getattr(xs, name).__doc__


def test_public_methods_have_docstrings():
    for name in dir(xs.XShards):
        if not name.startswith("_"):
            assert getattr(xs.XShards, name).__doc__, name


def test_forked_children_start_afresh():
    code = """
import os, warnings, pandas as pd, xshards as xs
df = pd.DataFrame({"a": [1, 2]})
assert len(xs.from_pandas(df)) == 2
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    os._exit(0 if len(xs.from_pandas(df)) == 2 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(code).stdout == "0\n"


def test_demo():
    done = subprocess.run(
        [sys.executable, "-m", "xshards.demo"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in (
        "336,776 flights",
        "MapPython add_speed",
        "16 carriers",
        "All of it in",
    ):
        assert words in done.stdout
    errors = [float(found) for found in re.findall(r"off by ([\d.]+)", done.stdout)]
    assert len(errors) == 3
    # Always to guess the median, -5, is off by 25.5 minutes.
    assert errors[-1] < 14


def test_demo_says_how_to_install_tensorflow():
    code = (
        "import sys; sys.modules['tensorflow'] = None; from xshards import demo; "
        "sys.exit(demo.main(['--framework', 'keras']))"
    )
    done = run(code)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "missing: pip install tensorflow-cpu==2.21.0 keras==3.15.1" in done.stderr
