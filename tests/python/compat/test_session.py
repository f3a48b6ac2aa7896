# SPDX-License-Identifier: Apache-2.0
"""init_orca_context, stop_orca_context and OrcaContext."""

import os

import numpy as np
import pytest

import xshards as xs
from xshards.compat.orca import session

MODES = [
    "yarn-client",
    "yarn-cluster",
    "k8s-client",
    "k8s-cluster",
    "standalone",
    "spark-submit",
    "bigdl-submit",
]


def test_more_cores_than_there_are_mean_more_partitions():
    from bigdl.orca import OrcaContext, init_orca_context
    from bigdl.orca.data import XShards

    sc = init_orca_context(cluster_mode="local", cores=8, memory="2g")
    assert sc.defaultParallelism == 8
    assert xs.context.default_context().cores == min(8, len(os.sched_getaffinity(0)))
    shards = XShards.partition(np.arange(20))
    assert [len(shard) for shard in shards.collect()] == [3, 3, 3, 3, 2, 2, 2, 2]
    assert OrcaContext.get_spark_context() is sc


def test_fewer_cores_than_there_are_are_honoured():
    from zoo.orca import init_orca_context

    sc = init_orca_context(cores=1)
    assert sc.defaultParallelism == 1
    assert xs.context.default_context().cores == 1


def test_defaults_of_the_dialects_differ():
    from bigdl.orca import init_orca_context as bigdl_init
    from zoo.orca import init_orca_context as zoo_init
    from zoo.orca import stop_orca_context

    assert zoo_init().defaultParallelism == 2
    stop_orca_context()
    assert bigdl_init().defaultParallelism == len(os.sched_getaffinity(0))


def test_memory_is_the_budget():
    from zoo.orca import init_orca_context

    init_orca_context(memory="512m")
    assert xs.context.default_context().memory == 512 * 2**20


def test_calling_it_twice_keeps_the_first_session():
    from bigdl.orca import init_orca_context

    first = init_orca_context(cores=2)
    assert init_orca_context() is first
    with pytest.warns(UserWarning, match="cluster_mode='local' is ignored"):
        assert init_orca_context(cluster_mode="local", cores=2) is first
    with pytest.warns(UserWarning, match="call stop_orca_context"):
        assert init_orca_context(cores=3) is first


def test_stopping_is_safe_at_any_time():
    from bigdl.orca import OrcaContext, init_orca_context, stop_orca_context

    stop_orca_context()
    init_orca_context(cores=2)
    stop_orca_context()
    stop_orca_context()
    with pytest.raises(RuntimeError, match="No active SparkContext"):
        OrcaContext.get_spark_context()


def test_context_can_be_stopped_by_itself():
    from zoo.orca import init_orca_context

    init_orca_context().stop()
    assert session.active() is None


@pytest.mark.parametrize("mode", [*MODES, *map(str.upper, MODES)])
def test_clusters_come_later(mode):
    from zoo.orca import init_orca_context

    with pytest.raises(NotImplementedError, match="later version") as caught:
        init_orca_context(cluster_mode=mode)
    assert mode in str(caught.value)


def test_unknown_mode_lists_the_known_ones():
    from zoo.orca import init_orca_context

    with pytest.raises(RuntimeError) as caught:
        init_orca_context(cluster_mode="mars")
    assert all(mode in str(caught.value) for mode in ["local", *MODES, "mars"])


def test_local_is_spelt_in_any_case():
    from zoo.orca import init_orca_context

    assert init_orca_context(cluster_mode="LOCAL").defaultParallelism == 2


@pytest.mark.parametrize("cores", [0, -1, 2.5, True, "many"])
def test_cores_are_checked(cores):
    from zoo.orca import init_orca_context

    with pytest.raises(RuntimeError, match="cores should be a positive integer"):
        init_orca_context(cores=cores)


def test_all_cores_can_be_written_as_a_star():
    from zoo.orca import init_orca_context

    sc = init_orca_context(cores="*")
    assert sc.defaultParallelism == len(os.sched_getaffinity(0))


def test_nodes_beyond_one_are_ignored_with_a_warning():
    from bigdl.orca import init_orca_context

    with pytest.warns(UserWarning, match="num_nodes=3 is ignored"):
        init_orca_context(cores=2, num_nodes=3)


def test_memory_is_checked():
    from zoo.orca import init_orca_context

    with pytest.raises(ValueError, match="memory"):
        init_orca_context(memory="lots")
    assert session.active() is None


def test_ray_comes_later():
    from bigdl.orca import init_orca_context

    with pytest.raises(NotImplementedError, match="runtime='ray'"):
        init_orca_context(runtime="ray")
    with pytest.raises(RuntimeError, match="cluster_mode must be None"):
        init_orca_context(cluster_mode="local", runtime="ray")
    with pytest.raises(RuntimeError, match="runtime can only be"):
        init_orca_context(runtime="slurm")


def test_options_of_spark_are_accepted():
    from bigdl.orca import init_orca_context

    sc = init_orca_context(
        cores=2,
        conf={"spark.driver.maxResultSize": "4g"},
        init_ray_on_spark=True,
        driver_memory="4g",
        object_store_memory="1g",
        extra_python_lib="x.py",
    )
    assert sc.getConf().get("spark.driver.maxResultSize") == "4g"


@pytest.mark.parametrize(
    ("option", "default", "good", "bad"),
    [
        ("pandas_read_backend", "spark", "pandas", "dask"),
        ("_eager_mode", True, False, 1),
        ("_shard_size", None, 100, 0),
        ("_shard_size", None, 1, "many"),
        ("_shard_size", None, None, True),
        ("serialize_data_creator", False, True, "yes"),
        ("train_data_store", "DRAM", "DISK_8", "DISK_0"),
        ("train_data_store", "DRAM", "PMEM", "TAPE"),
        ("log_output", False, True, None),
        ("barrier_mode", True, False, 0),
    ],
)
def test_settings_check_what_they_are_given(option, default, good, bad):
    from bigdl.orca import OrcaContext

    assert getattr(OrcaContext, option) == default
    setattr(OrcaContext, option, good)
    assert getattr(OrcaContext, option) == good
    with pytest.raises(RuntimeError):
        setattr(OrcaContext, option, bad)
    assert getattr(OrcaContext, option) == good


def test_settings_are_spelt_in_any_case():
    from bigdl.orca import OrcaContext

    OrcaContext.pandas_read_backend = "Pandas"
    assert OrcaContext.pandas_read_backend == "pandas"
    OrcaContext.train_data_store = "disk_4"
    assert OrcaContext.train_data_store == "DISK_4"


def test_old_name_of_the_settings_means_the_same():
    from zoo.common.nncontext import ZooContext
    from zoo.orca import OrcaContext

    ZooContext.orca_pandas_read_backend = "pandas"
    assert OrcaContext.pandas_read_backend == "pandas"


def test_init_nncontext_gives_the_active_context(sc):
    from bigdl.dllib.nncontext import get_spark_context, init_nncontext

    assert init_nncontext() is sc
    assert get_spark_context() is sc


def test_init_spark_on_local():
    from zoo.common.nncontext import get_node_and_core_number, init_spark_on_local

    assert init_spark_on_local(cores=3).defaultParallelism == 3
    assert get_node_and_core_number() == (1, 3)


def test_session_is_stopped_at_exit(run_script):
    done = run_script(
        "from zoo.orca import init_orca_context\n"
        "sc = init_orca_context(cores=2)\n"
        "print(sc.parallelize(range(10)).map(lambda x: x + 1).sum())\n"
    )
    assert done.stdout.split() == ["55"]
    assert done.stderr == ""
