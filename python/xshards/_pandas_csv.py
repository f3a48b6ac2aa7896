# SPDX-License-Identifier: Apache-2.0
"""What read_csv leaves to pandas: options that are odd or seldom matter for speed.

pandas reads whole files in worker processes, one partition a file.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from xshards._deferred import pd
from xshards._pandas_files import Folders, read_whole
from xshards.errors import XShardsTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "check_options",
    "pandas_options",
    "pandas_read_csv",
    "why_pandas",
]

# These give something else than a table, or say how pandas itself should work.
_NOT_TAKEN = {"filepath_or_buffer", "iterator", "chunksize", "delimiter"}
_COMPRESSED_FOR_PANDAS = (".xz", ".zip", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz")
_OUR_DEFAULTS = {"sep": ",", "names": None, "skiprows": 0}  # where pandas has others
_UTF8 = {None, "utf-8", "utf8", "utf-8-sig", "UTF-8"}


def check_options(options: dict[str, Any]) -> None:
    """Refuse what is no option of pandas.read_csv either, by name."""
    if not options:
        return
    known = set(inspect.signature(pd.read_csv).parameters) - _NOT_TAKEN
    for name in options:
        if name not in known:
            msg = f"read_csv() got an unexpected keyword argument {name!r}"
            raise XShardsTypeError(msg)


def why_pandas(options: dict[str, Any], paths: Iterable[str]) -> str | None:
    """Name the first option that only pandas reads, or None if we do."""
    checks = {
        "sep": _is_character(options["sep"]),
        "header": options["header"] in ("infer", 0, None),
        "names": _are_strings(options["names"]),
        "usecols": _are_strings(options["usecols"]),
        "index_col": options["index_col"] is None,
        "na_values": _are_strings(options["na_values"]),
        "keep_default_na": options["keep_default_na"],
        "na_filter": options["na_filter"],
        "true_values": options["true_values"] is None,
        "false_values": options["false_values"] is None,
        "quotechar": _is_character(options["quotechar"], optional=True),
        "doublequote": options["doublequote"],
        "quoting": options["quoting"] in (0, 1, 3),
        "escapechar": _is_character(options["escapechar"], optional=True),
        "comment": _is_character(options["comment"], optional=True),
        "skiprows": isinstance(options["skiprows"], int),
        "skipfooter": options["skipfooter"] == 0,
        "skip_blank_lines": options["skip_blank_lines"],
        "skipinitialspace": not options["skipinitialspace"],
        "thousands": options["thousands"] is None,
        "decimal": options["decimal"] == ".",
        "parse_dates": _are_strings(options["parse_dates"]),
        "date_format": options["date_format"] is None,
        "encoding": options["encoding"] in _UTF8,
        "compression": options["compression"] == "infer"
        and not any(
            path.partition("?")[0].endswith(_COMPRESSED_FOR_PANDAS) for path in paths
        ),
        "on_bad_lines": options["on_bad_lines"] == "error",
        # Ours are correctly rounded, as with "round_trip".
        "float_precision": options["float_precision"] in (None, "round_trip"),
    }
    return next((name for name, is_ours in checks.items() if not is_ours), None)


def _is_character(value: object, *, optional: bool = False) -> bool:
    if value is None:
        return optional
    return isinstance(value, str) and len(value.encode()) == 1


def _are_strings(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return True
    return isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)


def pandas_options(options: dict[str, Any]) -> dict[str, Any]:
    """Give the options that are not pandas' own defaults, to pass on."""
    known = inspect.signature(pd.read_csv).parameters
    changed = {}
    for name, value in options.items():
        default = _OUR_DEFAULTS.get(name, known[name].default)
        if type(value) is not type(default) or value != default:
            changed[name] = value
    # pandas would warn before it chooses this engine by itself.
    sep = options["sep"]
    has_odd_sep = sep is None or (len(sep) > 1 and sep != r"\s+")
    if has_odd_sep or options["skipfooter"] or callable(options["on_bad_lines"]):
        changed.setdefault("engine", "python")
    return changed


def pandas_read_csv(
    paths: list[str], options: dict[str, Any], folders: Folders
) -> pd.DataFrame:
    """Read the files of a partition; runs in a worker process."""
    return read_whole(pd.read_csv, paths, options, folders)
