# SPDX-License-Identifier: Apache-2.0
"""What a function does to its process spoils no later job."""

import gc
import locale
import os
import resource
import shutil
import signal
import sys
import tempfile
import time

import numpy as np
import pandas as pd
import pytest

import xshards as xs


def limit(name, value, *, hard=False):
    def damage():
        number = getattr(resource, name)
        _, most = resource.getrlimit(number)
        resource.setrlimit(number, (value, value if hard else most))

    damage.__name__ = f"{name}{' hard' if hard else ''}"
    return damage


def clear_module_path():
    sys.path.clear()


def replace_module_path():
    sys.path = ["/nowhere"]


def leave_for_a_folder_that_goes():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    shutil.rmtree(folder)


def clear_environment():
    os.environ.clear()


def change_environment():
    os.environ["PATH"] = "/nowhere"
    os.environ["XSHARDS_TEST_VARIABLE"] = "left"


def change_time_zone():
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()


def ignore_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGSEGV, signal.SIG_IGN)


def exit_on_signals():
    signal.signal(signal.SIGALRM, lambda *_: os._exit(3))
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.1)


def block_signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})


def restrict_cores():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def be_nice():
    os.nice(5)


def change_mask():
    os.umask(0o777)


def lower_recursion_limit():
    sys.setrecursionlimit(80)


def stop_collecting():
    gc.disable()


def change_locale():
    locale.setlocale(locale.LC_ALL, "C")


def give_up_privileges():
    if os.getuid() == 0:
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    else:
        os.nice(1)


DAMAGES = [
    clear_module_path,
    replace_module_path,
    leave_for_a_folder_that_goes,
    clear_environment,
    change_environment,
    change_time_zone,
    ignore_signals,
    exit_on_signals,
    block_signals,
    restrict_cores,
    be_nice,
    change_mask,
    lower_recursion_limit,
    stop_collecting,
    change_locale,
    give_up_privileges,
    limit("RLIMIT_NOFILE", 5),
    limit("RLIMIT_NOFILE", 64, hard=True),
    limit("RLIMIT_FSIZE", 0),
    limit("RLIMIT_CORE", 0, hard=True),
    limit("RLIMIT_AS", 1 << 20),
    limit("RLIMIT_CPU", 1),
    limit("RLIMIT_NPROC", 0),
    limit("RLIMIT_STACK", 1 << 12),
]


def observe(df):
    """Give the state of the process that a function can rely on."""
    time.sleep(0.05)  # so that both workers take part
    mask = os.umask(0)
    os.umask(mask)
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    return {
        "path": list(sys.path),
        "folder": os.getcwd(),  # noqa: PTH109
        "environment": dict(os.environ),
        "zone": time.tzname,
        "handlers": [repr(signal.getsignal(n)) for n in signal.valid_signals()],
        "timer": signal.getitimer(signal.ITIMER_REAL),
        "blocked": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "cores": os.sched_getaffinity(0),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "mask": mask,
        "recursion": sys.getrecursionlimit(),
        "collects": gc.isenabled(),
        "locale": locale.setlocale(locale.LC_ALL),
        "user": (os.getresuid(), os.getresgid()),
        "limits": {n: resource.getrlimit(getattr(resource, n)) for n in names},
    }


@pytest.fixture(scope="module")
def numbers():
    context = xs.Context(cores=2, memory="512MB")
    yield xs.from_pandas(pd.DataFrame({"a": range(8)}), 4, context=context)
    context.close()


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_worker_state_is_restored_between_jobs(numbers, damage):
    [before] = numbers.repartition(1).transform_shard(observe).collect()

    def run(df):
        time.sleep(0.05)
        damage()
        return len(df)

    assert numbers.transform_shard(run).collect() == [2] * 4
    for after in numbers.transform_shard(observe).collect():
        assert after == before
    arrays = numbers.transform_shard(lambda df: np.zeros(1 << 18)).collect()
    assert [one.nbytes for one in arrays] == [1 << 21] * 4


def test_unrestorable_worker_is_replaced(numbers):
    """However many there are: nothing counts as a death."""

    def spoil(df):
        time.sleep(0.05)
        give_up_privileges()
        return os.getpid()

    seen = set()
    for _ in range(5):
        pids = set(numbers.transform_shard(spoil).collect())
        assert not pids & seen
        seen |= pids
    # Some jobs need no more than one worker of two.
    assert len(seen) >= 5


def test_state_persists_within_a_job():
    """An environment that a function prepares on first use stays for its job."""
    context = xs.Context(cores=1, memory="512MB")

    def prepare(df):
        first = "PREPARED" not in os.environ
        os.environ["PREPARED"] = "yes"
        return first

    shards = xs.from_pandas(pd.DataFrame({"a": range(6)}), 6, context=context)
    assert sum(shards.transform_shard(prepare).collect()) == 1
    assert sum(shards.transform_shard(prepare).collect()) == 1
    context.close()
