# SPDX-License-Identifier: Apache-2.0
"""The table of module paths that Orca scripts import from.

Add a path here when its content is there: an `Alias` in the place of its `Planned`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MODULES", "ROOTS", "Alias", "Lazy", "Planned"]

#: The packages that we provide if they are not installed.
ROOTS = ("zoo", "bigdl")


@dataclass(frozen=True)
class Alias:
    """The public names of one of our modules; `renamed` adds or replaces some."""

    target: str
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lazy:
    """Names of one of our modules that is imported when the first of them is used.

    It loads a framework, which a script that only mentions the path need not have.
    """

    target: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Planned:
    """A module of a later version; `names` are what a star-import brings.

    Every other name can be imported from it, too.
    """

    what: str
    names: tuple[str, ...] = ()


def _ours(module: str, folder: str = "exports", **renamed: str) -> Alias:
    return Alias(f"xshards.compat.{folder}.{module}", renamed)


_ESTIMATORS = "estimators"
_IMAGES = "images"
_LAYERS = "BigDL layers"
_RAY = "shards on Ray"

_TF_DATA = "xshards.compat.orca.tf_data"
_CALLBACKS = "xshards.learn.callbacks"
_TORCH_CALLBACKS = "xshards.learn.pytorch.callbacks"
#: Modules of callbacks, by Orca's names for them.
_CALLBACK_MODULES = {
    "base": f"{_CALLBACKS}.base",
    "maincallback": f"{_TORCH_CALLBACKS}.maincallback",
    "maxsteps": f"{_CALLBACKS}.max_steps",
    "model_checkpoint": f"{_CALLBACKS}.model_checkpoint",
    "tensorboard": f"{_CALLBACKS}.tensorboard",
    "tqdm": f"{_CALLBACKS}.tqdm",
}

_OPTIMIZERS = (
    "SGD",
    "Adagrad",
    "LBFGS",
    "Adadelta",
    "Adam",
    "ParallelAdam",
    "Ftrl",
    "Adamax",
    "RMSprop",
)
_NNFRAMES = (
    "NNEstimator",
    "NNModel",
    "NNClassifier",
    "NNClassifierModel",
    "NNImageReader",
)
_TFPARK = (
    "TFDataset",
    "TFOptimizer",
    "TFPredictor",
    "TFNet",
    "TFEstimator",
    "KerasModel",
    "ZooOptimizer",
)
_TFPARK_MODULES = (
    "tf_dataset",
    "tf_optimizer",
    "tf_predictor",
    "tfnet",
    "model",
    "estimator",
    "zoo_optimizer",
)
_TF_FILES = (
    "export_tf",
    "get_checkpoint_state",
    "load_tf_checkpoint",
    "save_tf_checkpoint",
)
_TRIGGERS = {"TriggerAnd": "And", "TriggerOr": "Or"}
_TORCH = ("TorchModel", "TorchLoss", "TorchOptim")
_BIGDL_LAYERS = (
    "Sequential",
    "Linear",
    "Model",
    "Input",
    "Reshape",
    "ReLU",
    "Tanh",
    "Sigmoid",
    "SoftMax",
    "LogSoftMax",
    "Dropout",
    "View",
    "LookupTable",
    "SpatialConvolution",
    "SpatialMaxPooling",
    "SpatialAveragePooling",
    "SpatialBatchNormalization",
    "BatchNormalization",
)
_BIGDL_CRITERIONS = (
    "MSECriterion",
    "ClassNLLCriterion",
    "CrossEntropyCriterion",
    "BCECriterion",
    "AbsCriterion",
    "SmoothL1Criterion",
)


def _tfpark(module: str = "exports", *names: str) -> Lazy:
    return Lazy(f"xshards.compat.tfpark.{module}", names or _TFPARK)


@dataclass(frozen=True)
class _Dialect:
    """The Estimators of ``zoo.orca``, or of ``bigdl.orca``."""

    torch: Alias
    keras: Alias
    graphs: Lazy


_GRAPHS = ("Estimator", "KerasEstimator", "TensorFlowEstimator")
_ZOO = _Dialect(
    torch=_ours("zoo_pytorch"),
    keras=_ours("zoo_tf2"),
    graphs=_tfpark("estimator", *_GRAPHS),
)
_BIGDL = _Dialect(
    torch=_ours("bigdl_pytorch"),
    keras=_ours("bigdl_tf2"),
    graphs=_tfpark("bigdl_estimator", *_GRAPHS),
)


def _orca(root: str, dialect: _Dialect) -> dict[str, Alias | Lazy | Planned]:
    """List what is the same under ``zoo.orca`` and ``bigdl.orca``."""
    learn = f"{root}.learn"
    data = f"{root}.data"
    images = f"{data}.image"
    pytorch = f"{learn}.pytorch"
    return {
        data: _ours("data"),
        f"{data}.shard": _ours("data"),
        f"{data}.pandas": _ours("readers", "orca"),
        f"{data}.pandas.preprocessing": _ours("readers", "orca"),
        f"{data}.utils": _ours("data_utils"),
        f"{data}.file": _ours("files"),
        f"{data}.transformer": _ours("transformer", "orca"),
        f"{data}.ray_xshards": Planned(_RAY, ("RayXShards",)),
        f"{data}.elastic_search": Planned("search indexes", ("elastic_search",)),
        f"{data}.tf": Alias(_TF_DATA),
        f"{data}.tf.data": Alias(_TF_DATA),
        images: Planned(
            _IMAGES, ("read_images", "write_mnist", "write_voc", "write_parquet")
        ),
        f"{images}.parquet_dataset": Planned(_IMAGES, ("ParquetDataset",)),
        f"{images}.preprocessing": Planned(_IMAGES, ("read_images", "read_voc")),
        f"{images}.utils": Planned(
            _IMAGES, ("DType", "FeatureType", "SchemaField", "chunks")
        ),
        learn: Planned(_ESTIMATORS),
        f"{learn}.metrics": Alias("xshards.learn.metrics"),
        f"{learn}.utils": Planned(_ESTIMATORS),
        f"{learn}.optimizers": Alias("xshards.learn.optimizers"),
        f"{learn}.optimizers.schedule": Alias("xshards.learn.optimizers.schedule"),
        f"{learn}.trigger": Alias("xshards.learn.trigger"),
        pytorch: dialect.torch,
        f"{pytorch}.estimator": dialect.torch,
        f"{pytorch}.training_operator": dialect.torch,
        f"{pytorch}.pytorch_metrics": Alias("xshards.learn.pytorch.metrics"),
        f"{pytorch}.pytorch_pyspark_estimator": Planned(_ESTIMATORS),
        f"{pytorch}.torch_runner": Planned(_ESTIMATORS, ("TorchRunner",)),
        f"{pytorch}.utils": Planned(_ESTIMATORS, ("process_stats",)),
        f"{pytorch}.callbacks": Alias(_TORCH_CALLBACKS),
        **{
            f"{pytorch}.callbacks.{part}": Alias(module)
            for part, module in _CALLBACK_MODULES.items()
        },
        f"{learn}.tf": Planned(_ESTIMATORS),
        f"{learn}.tf.estimator": dialect.graphs,
        f"{learn}.tf2": dialect.keras,
        f"{learn}.tf2.estimator": dialect.keras,
        f"{learn}.tf2.pyspark_estimator": dialect.keras,
        f"{learn}.tf2.ray_estimator": dialect.keras,
        f"{learn}.tf2.spark_runner": Planned("runners on Spark", ("SparkRunner",)),
        f"{learn}.mxnet": Planned(_ESTIMATORS, ("Estimator", "create_config")),
        f"{learn}.mxnet.estimator": Planned(_ESTIMATORS, ("Estimator",)),
        f"{learn}.openvino": Planned(_ESTIMATORS, ("Estimator",)),
        f"{learn}.openvino.estimator": Planned(_ESTIMATORS, ("Estimator",)),
        f"{learn}.bigdl": Planned(_ESTIMATORS, ("Estimator",)),
        f"{learn}.bigdl.estimator": Planned(_ESTIMATORS, ("Estimator",)),
        f"{learn}.horovod": Planned(_ESTIMATORS, ("HorovodRayRunner",)),
        f"{learn}.mpi": Planned(_ESTIMATORS, ("MPIEstimator",)),
    }


MODULES: dict[str, Alias | Lazy | Planned] = {
    # Analytics Zoo
    "zoo": _ours("nncontext"),
    "zoo.common": _ours("nncontext"),
    "zoo.common.nncontext": _ours("nncontext"),
    "zoo.orca": _ours("zoo_orca"),
    "zoo.orca.common": _ours("zoo_orca"),
    **_orca("zoo.orca", _ZOO),
    "zoo.pipeline": Planned(_ESTIMATORS),
    "zoo.pipeline.api": Planned(_ESTIMATORS),
    "zoo.pipeline.api.torch": Planned(_ESTIMATORS, _TORCH),
    "zoo.pipeline.api.net": _tfpark(),
    "zoo.pipeline.api.keras": Planned(_ESTIMATORS),
    "zoo.pipeline.api.keras.metrics": Alias("xshards.learn.metrics"),
    "zoo.pipeline.api.keras.optimizers": Planned(_ESTIMATORS, _OPTIMIZERS),
    "zoo.pipeline.estimator": Planned(_ESTIMATORS, ("Estimator",)),
    "zoo.pipeline.nnframes": Planned(_ESTIMATORS, _NNFRAMES),
    "zoo.pipeline.inference": Planned(_ESTIMATORS, ("InferenceModel",)),
    "zoo.tfpark": _tfpark(),
    **{f"zoo.tfpark.{part}": _tfpark() for part in _TFPARK_MODULES},
    "zoo.util": _ours("nncontext"),
    "zoo.util.tf": _tfpark("files", *_TF_FILES),
    "zoo.util.triggers": Alias("xshards.learn.trigger", _TRIGGERS),
    "zoo.feature": Planned(_ESTIMATORS),
    "zoo.feature.common": Planned(_ESTIMATORS, ("FeatureSet",)),
    "zoo.ray": Planned(_RAY, ("RayContext", "OrcaRayContext")),
    # BigDL 2
    "bigdl": _ours("nncontext"),
    "bigdl.orca": _ours("bigdl_orca"),
    "bigdl.orca.common": _ours("bigdl_orca"),
    **_orca("bigdl.orca", _BIGDL),
    "bigdl.orca.ray": Planned(_RAY, ("OrcaRayContext", "RayContext")),
    "bigdl.orca.torch": Planned(_ESTIMATORS, _TORCH),
    "bigdl.orca.tfpark": _tfpark(),
    **{f"bigdl.orca.tfpark.{part}": _tfpark() for part in _TFPARK_MODULES},
    "bigdl.orca.inference": Planned(_ESTIMATORS, ("InferenceModel",)),
    "bigdl.dllib": _ours("nncontext"),
    "bigdl.dllib.nncontext": _ours("nncontext"),
    "bigdl.dllib.utils": _ours("nncontext"),
    "bigdl.dllib.utils.nncontext": _ours("nncontext"),
    "bigdl.dllib.utils.common": _ours("nncontext"),
    "bigdl.dllib.utils.file_utils": _ours("files"),
    "bigdl.dllib.utils.tf": _tfpark("files", *_TF_FILES),
    "bigdl.dllib.utils.triggers": Alias("xshards.learn.trigger", _TRIGGERS),
    "bigdl.dllib.nnframes": Planned(_ESTIMATORS, _NNFRAMES),
    # BigDL before 2
    "bigdl.nn": Planned(_LAYERS),
    "bigdl.nn.layer": Planned(_LAYERS, _BIGDL_LAYERS),
    "bigdl.nn.criterion": Planned(_LAYERS, _BIGDL_CRITERIONS),
    "bigdl.optim": Planned(_ESTIMATORS),
    "bigdl.optim.optimizer": _ours("bigdl_optim"),
}
