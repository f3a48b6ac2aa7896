# SPDX-License-Identifier: Apache-2.0
"""Every module path of Orca imports; what is not there yet says so in a sentence."""

import importlib
import sys

import numpy as np
import pytest

import xshards.compat
from xshards.compat.modules import MODULES, Lazy, Planned
from xshards.errors import XShardsError

# The module paths that scripts import from, written out, so that none gets lost.
PATHS = [
    "bigdl.orca",
    "bigdl.orca.data",
    "bigdl.orca.data.pandas",
    "bigdl.orca.data.file",
    "bigdl.orca.data.image",
    "bigdl.orca.data.image.parquet_dataset",
    "bigdl.orca.data.image.preprocessing",
    "bigdl.orca.data.image.utils",
    "bigdl.orca.data.transformer",
    "bigdl.orca.data.utils",
    "bigdl.orca.learn.metrics",
    "bigdl.orca.learn.utils",
    "bigdl.orca.learn.optimizers",
    "bigdl.orca.learn.optimizers.schedule",
    "bigdl.orca.learn.trigger",
    "bigdl.orca.learn.pytorch",
    "bigdl.orca.learn.pytorch.pytorch_metrics",
    "bigdl.orca.learn.pytorch.pytorch_pyspark_estimator",
    "bigdl.orca.learn.pytorch.torch_runner",
    "bigdl.orca.learn.pytorch.utils",
    "bigdl.orca.learn.pytorch.callbacks",
    "bigdl.orca.learn.pytorch.callbacks.base",
    "bigdl.orca.learn.pytorch.callbacks.model_checkpoint",
    "bigdl.orca.learn.pytorch.callbacks.tensorboard",
    "bigdl.orca.learn.tf2",
    "bigdl.orca.learn.tf2.pyspark_estimator",
    "bigdl.orca.learn.tf2.spark_runner",
    "bigdl.orca.learn.tf.estimator",
    "bigdl.orca.learn.mxnet",
    "bigdl.orca.learn.openvino",
    "bigdl.orca.learn.bigdl",
    "bigdl.orca.torch",
    "bigdl.orca.tfpark",
    "bigdl.dllib.nncontext",
    "bigdl.dllib.nnframes",
    "bigdl.dllib.utils.file_utils",
    "zoo",
    "zoo.orca",
    "zoo.orca.data",
    "zoo.orca.data.pandas",
    "zoo.orca.data.transformer",
    "zoo.common.nncontext",
    "zoo.pipeline.api.torch",
    "zoo.pipeline.api.net",
    "zoo.tfpark",
    "zoo.pipeline.nnframes",
    "zoo.pipeline.estimator",
    "zoo.feature.common",
    "zoo.pipeline.api.keras.metrics",
    "zoo.pipeline.api.keras.optimizers",
    "zoo.orca.learn.mxnet",
    "zoo.orca.learn.openvino",
    "zoo.orca.learn.bigdl",
    "zoo.orca.learn.pytorch",
    "zoo.orca.learn.tf.estimator",
    "zoo.orca.learn.tf2",
    "zoo.orca.learn.optimizers",
    "zoo.orca.learn.trigger",
    "zoo.orca.learn.metrics",
    "bigdl.nn.layer",
    "bigdl.nn.criterion",
    "bigdl.optim.optimizer",
]


@pytest.mark.parametrize("path", sorted({*PATHS, *MODULES}))
def test_module_imports_and_exports_what_it_says(path):
    module = importlib.import_module(path)
    for name in module.__all__:
        # Names that load TensorFlow: see test_tf1_estimator.py.
        if not isinstance(MODULES[path], Lazy):
            assert getattr(module, name) is not None
    assert importlib.import_module(path.partition(".")[0]) is not None


@pytest.mark.parametrize(
    "statement",
    [
        "from bigdl.orca import OrcaContext, init_orca_context, stop_orca_context",
        "from zoo.orca import init_orca_context, stop_orca_context, OrcaContext",
        "from bigdl.orca.data import XShards, SparkXShards, SharedValue",
        "from bigdl.orca.data import file, transformer",
        "from bigdl.orca.data import read_images",
        "from bigdl.orca.data.utils import spark_df_to_pd_sparkxshards",
        "from bigdl.orca.data.image import write_mnist, write_voc",
        "from bigdl.orca.learn.pytorch.callbacks import Callback, MainCallback",
        "from bigdl.orca.learn import pytorch",
        "from zoo import init_nncontext",
        "import zoo.pipeline.api.net",
        "from bigdl.optim.optimizer import MaxIteration, Adam, MaxEpoch, TrainSummary",
        "import zoo.orca.data.pandas; zoo.orca.data.pandas.read_csv",
        "from zoo.orca.learn.mxnet import Estimator, create_config",
        "from zoo.orca.data.shard import SparkXShards, SharedValue",
        "from zoo.orca.learn.tf2 import Estimator; Estimator.from_keras",
        "from bigdl.orca.learn.tf2 import Estimator, pyspark_estimator",
        "from bigdl.orca.learn.tf2.pyspark_estimator import SparkTFEstimator",
        "from bigdl.orca.data.tf.data import Dataset; Dataset.from_tensor_slices",
    ],
)
def test_import_form(statement):
    exec(statement, {})


def test_star_imports_bring_what_they_used_to():
    for path in ("bigdl.dllib.nncontext", "zoo.common.nncontext"):
        names = {}
        exec(f"from {path} import *", names)
        assert names["np"] is np
        assert {
            "tempfile",
            "init_nncontext",
            "init_spark_on_local",
            "get_spark_context",
            "ZooContext",
        } <= names.keys()


def test_star_import_of_layers_brings_names():
    names = {}
    exec("from bigdl.nn.layer import *\nfrom bigdl.nn.criterion import *", names)
    assert {"Sequential", "Linear", "MSECriterion"} <= names.keys()


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (
            "from zoo.orca.learn.openvino import Estimator\nEstimator.from_openvino",
            "zoo.orca.learn.openvino.Estimator",
        ),
        (
            "from bigdl.optim.optimizer import Optimizer\nOptimizer()",
            "bigdl.optim.optimizer.Optimizer",
        ),
        ("from bigdl.nn.layer import Anything\nAnything()", "bigdl.nn.layer.Anything"),
        (
            "from zoo.orca.learn.mxnet import create_config\ncreate_config()",
            "zoo.orca.learn.mxnet.create_config",
        ),
        (
            "from bigdl.orca.data.image import write_mnist\nwrite_mnist('a', 'b', 'c')",
            "write_mnist",
        ),
    ],
)
def test_using_what_comes_later_says_so_in_a_sentence(use, name):
    with pytest.raises(NotImplementedError) as caught:
        exec(use, {})
    assert isinstance(caught.value, XShardsError)
    assert name in str(caught.value)
    assert "not in XShards yet" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_class_that_comes_later_can_be_a_base_class():
    from bigdl.orca.learn.mxnet import Estimator

    class Mine(Estimator):
        def before_epoch(self):
            return 1

    assert Mine.before_epoch is not None
    with pytest.raises(NotImplementedError, match=r"mxnet\.Estimator"):
        Mine()


def test_unknown_modules_do_not_import():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("bigdl.orca.nowhere")
    with pytest.raises(ImportError):
        exec("from bigdl.orca import nothing", {})


def test_real_package_is_used_and_a_warning_says_so(tmp_path, monkeypatch):
    xshards.compat.uninstall()
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "__init__.py").write_text("real = True")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(UserWarning, match="installed package 'zoo' is used"):
        xshards.compat.install()
    assert importlib.import_module("zoo").real
    xshards.compat.install(shadow=True)
    assert hasattr(importlib.import_module("zoo"), "init_nncontext")
    del sys.modules["zoo"]


def test_uninstall_leaves_nothing():
    importlib.import_module("bigdl.orca.data.pandas")
    xshards.compat.uninstall()
    assert not xshards.compat.is_installed()
    assert not [name for name in sys.modules if name.split(".")[0] in ("zoo", "bigdl")]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("bigdl")


def test_planned_modules_have_a_reason():
    for entry in MODULES.values():
        if isinstance(entry, Planned):
            assert entry.what


def test_workers_follow_a_shadowing_driver(run_script, tmp_path):
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "__init__.py").write_text("real = True")
    text = (
        "from zoo.orca import init_orca_context\n"
        "def find(_):\n"
        "    import zoo\n"
        "    return hasattr(zoo, 'real')\n"
        "print(init_orca_context().parallelize([1]).map(find).collect())\n"
    )
    assert run_script(text, options=["--shadow"]).stdout.split() == ["[False]"]
    done = run_script(text, check=False)
    assert "installed package 'zoo' is used" in done.stderr


def test_nothing_is_said_of_keras_where_tensorflow_is_not_used(run_script, monkeypatch):
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    text = "import os; print(os.environ['TF_USE_LEGACY_KERAS'])"
    done = run_script(text)
    assert (done.stdout.strip(), done.stderr) == ("1", "")


def test_script_gets_its_arguments_and_its_folder(run_script, tmp_path):
    (tmp_path / "beside.py").write_text(
        "from zoo.orca.data import XShards\nANSWER = 42"
    )
    text = (
        "import sys, beside\n"
        "from zoo.orca import init_orca_context\n"
        "def ask(x):\n"
        "    return beside.ANSWER + x\n"
        "if __name__ == '__main__':\n"
        "    sc = init_orca_context()\n"
        "    print(sys.argv[1:], sc.parallelize([1]).map(ask).first())\n"
    )
    assert run_script(text, "--cores", "2").stdout.strip() == "['--cores', '2'] 43"


def test_missing_script_is_an_error(tmp_path):
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "xshards.compat", str(tmp_path / "no.py")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "there is no script" in done.stderr


def test_a_failing_script_fails(run_script):
    done = run_script("raise SystemExit(3)", check=False)
    assert done.returncode == 3
