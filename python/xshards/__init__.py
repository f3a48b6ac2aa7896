# SPDX-License-Identifier: Apache-2.0
"""Data-parallel DataFrames on all cores: a C++ engine on Apache Arrow.

>>> import xshards as xs
>>> flights = xs.read_csv("flights/*.csv")  # doctest: +SKIP
>>> late = flights.filter(xs.col("arr_delay") > 30)  # doctest: +SKIP
>>> late.group_by("carrier", {"arr_delay": "mean"}).to_pandas()  # doctest: +SKIP
"""

from __future__ import annotations

_ARROW_MAJOR = 26


def _check_arrow() -> None:
    """Name the fix if the engine's libraries are missing or incompatible."""
    fix = f'pip install "pyarrow>={_ARROW_MAJOR},<{_ARROW_MAJOR + 1}"'
    try:
        import pyarrow as pa
    except ImportError as error:
        msg = f"xshards needs pyarrow {_ARROW_MAJOR}: {fix}"
        raise ImportError(msg) from error
    if int(pa.__version__.partition(".")[0]) != _ARROW_MAJOR:
        msg = (
            f"xshards is built for pyarrow {_ARROW_MAJOR}, not {pa.__version__}: {fix}"
        )
        raise ImportError(msg)


_check_arrow()

from xshards.context import Context, init, stop  # noqa: E402
from xshards.errors import XShardsError  # noqa: E402
from xshards.expressions import Expression, col, lit  # noqa: E402
from xshards.io.columnar import read_ipc, read_orc, read_parquet  # noqa: E402
from xshards.io.csv.read_csv import read_csv  # noqa: E402
from xshards.io.json.read_json import read_json  # noqa: E402
from xshards.io.memory import from_arrow, from_pandas, partition  # noqa: E402
from xshards.io.tfrecord import read_tfrecord  # noqa: E402
from xshards.profile import Profile, StageProfile, last_profile  # noqa: E402
from xshards.shards import XShards  # noqa: E402
from xshards.shared_value import SharedValue  # noqa: E402

__version__ = "0.1.0"

__all__ = [
    "Context",
    "Expression",
    "Profile",
    "SharedValue",
    "StageProfile",
    "XShards",
    "XShardsError",
    "col",
    "from_arrow",
    "from_pandas",
    "init",
    "last_profile",
    "lit",
    "partition",
    "read_csv",
    "read_ipc",
    "read_json",
    "read_orc",
    "read_parquet",
    "read_tfrecord",
    "stop",
]
