# SPDX-License-Identifier: Apache-2.0
"""Options of pandas' and Spark's readers, as the engine's readers take them."""

from __future__ import annotations

import warnings
from typing import Any, Literal

from xshards.compat.errors import OrcaInputError

__all__ = ["translate"]

# Spark's names of options, by ours.
_SPARK_NAMES = {"delimiter": "sep", "quote": "quotechar", "escape": "escapechar"}
_CSV = frozenset(
    {
        "sep",
        "header",
        "quotechar",
        "escapechar",
        "comment",
        "na_values",
        "skiprows",
        "nrows",
    }
)
_JSON = frozenset({"nrows"})
# These are the defaults of the engine.
_MATTER_OF_COURSE: dict[str, tuple[Any, ...]] = {
    "mangle_dupe_cols": (True,),
    "parse_dates": (False,),
    "inferSchema": (True, "true"),
    "mergeSchema": (True, "true"),
    "orient": ("columns", "records"),
    "lines": (True,),
    "multiLine": (False, "false"),
    "engine": (None, "c", "pyarrow"),
    "encoding": (None, "utf-8", "utf8", "UTF-8"),
}
_REFUSED = {
    "mangle_dupe_cols": "mangle_dupe_cols can only be True",
    "parse_dates": "parse_dates can only be False",
    "lines": "lines can only be True: files have one JSON object per line",
    "orient": "orient can only be columns or records",
}


def translate(
    options: dict[str, Any], form: Literal["csv", "json", "parquet"]
) -> dict[str, Any]:
    """Give the engine's options; a warning for those that mean nothing to it."""
    known = {"csv": _CSV, "json": _JSON, "parquet": frozenset[str]()}[form]
    found: dict[str, Any] = {}
    for given, value in options.items():
        name = _SPARK_NAMES.get(given, given)
        if name in known:
            found[name] = value
        elif value in _MATTER_OF_COURSE.get(name, ()):
            continue
        elif name in _REFUSED:
            msg = f"{_REFUSED[name]}, got {value!r}"
            raise OrcaInputError(msg)
        else:
            warnings.warn(
                f"{given}={value!r} has no effect on the {form} reader; with "
                "OrcaContext.pandas_read_backend = 'pandas' all options of pandas have",
                stacklevel=4,
            )
    return _checked(found)


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    if options.get("header") is True:
        options["header"] = 0  # Spark's spelling
    header = options.get("header", "infer")
    if header not in ("infer", 0, None):
        msg = f"header should be either 'infer', 0 or None, got {header!r}"
        raise OrcaInputError(msg)
    for name in ("quotechar", "escapechar", "comment"):
        value = options.get(name)
        if value is not None and len(value) != 1:
            msg = f"Only length-1 {name} characters supported, got {value!r}"
            raise OrcaInputError(msg)
    return options
