# SPDX-License-Identifier: Apache-2.0
"""Options of read_csv that pandas handles: unusual ones, where speed matters little.

pandas reads whole files in worker processes, one partition a file.
"""

from __future__ import annotations

import codecs
import contextlib
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards import _core
from xshards._util.deferred import pd
from xshards.io.csv.separators import is_separator
from xshards.io.csv.times import are_times
from xshards.io.pandas_fallback import check_keywords, for_pandas_only
from xshards.io.pandas_files import Folders, read_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa

__all__ = [
    "asked_lines",
    "check_options",
    "engine_compression",
    "engine_encoding",
    "pandas_options",
    "pandas_read_csv",
    "skipped_lines",
    "spelled",
    "spelled_by_column",
    "why_pandas",
]

# These return something other than a table, or configure pandas itself.
_NOT_TAKEN = {"filepath_or_buffer", "iterator", "chunksize"}
# These are ours, or follow from another option.
_NOT_PASSED = {"delimiter", "squeeze"}
_OUR_DEFAULTS = {"sep": ",", "names": None, "skiprows": 0}  # pandas has others
# Our names of encodings, by those of codecs.lookup.
_ENCODINGS = {
    "utf-8": "utf-8",
    "utf-8-sig": "utf-8",
    "iso8859-1": "latin-1",
    "cp1252": "cp1252",
    "utf-16": "utf-16",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
}
_MANY_LINES = 1_000_000
_COMPRESSIONS = ("gzip", "bz2", "zstd", "xz")


def check_options(options: dict[str, Any]) -> None:
    """Reject names that are not options of pandas.read_csv either."""
    if options:
        check_keywords(pd.read_csv, options, refused=_NOT_TAKEN)


def why_pandas(options: dict[str, Any], paths: Iterable[str]) -> str | None:
    """Name the first option that only pandas reads, or None if we do."""
    checks = {
        "sep": is_separator(options),
        "header": _is_header(options["header"]),
        "names": _are_strings(options["names"]),
        "usecols": _chooses(options),
        "index_col": _is_index(options),
        "na_values": _are_missing_values(options),
        "true_values": _are_listed_strings(options["true_values"]),
        "false_values": _are_listed_strings(options["false_values"]),
        "quotechar": _is_character(options["quotechar"], optional=True),
        "quoting": options["quoting"] in (0, 1, 2, 3),
        "escapechar": _is_character(options["escapechar"], optional=True),
        "comment": options["comment"] is None
        or (_is_character(options["comment"]) and options["escapechar"] is None),
        "skiprows": _are_lines(options),
        "skipfooter": options["skipfooter"] == 0 or _is_plain_footer(options),
        # Comment lines are not blank, but yield no row.
        "skip_blank_lines": options["skip_blank_lines"]
        or (options["comment"] is None and options["escapechar"] is None),
        "thousands": options["thousands"] is None
        or _is_number_mark(options["thousands"], options),
        "decimal": _is_number_mark(options["decimal"], options)
        and options["decimal"] != options["thousands"],
        "parse_dates": are_times(options),
        "encoding": engine_encoding(options["encoding"]) is not None,
        "compression": _is_compression(options["compression"], paths),
        "on_bad_lines": options["on_bad_lines"] in ("error", "warn", "skip"),
        # Ours are correctly rounded, as with "round_trip".
        "float_precision": options["float_precision"] in (None, "round_trip"),
    }
    return next((name for name, is_ours in checks.items() if not is_ours), None)


def _is_header(value: object) -> bool:
    if value is None or value == "infer":
        return True
    return type(value) is int and value >= 0  # pandas reports errors of others


def _are_lines(options: dict[str, Any]) -> bool:
    """Return whether the engine can skip these lines: a number, or some by number."""
    lines = options["skiprows"]
    if callable(lines):
        return options["escapechar"] is None
    if options["escapechar"] is not None:
        # pandas ignores it in skipped lines.
        return lines is None or (isinstance(lines, int) and lines == 0)
    if lines is None or type(lines) is int:
        return lines is None or lines >= 0
    return isinstance(lines, range) or (
        isinstance(lines, list | tuple | set | frozenset)
        and all(type(line) is int for line in lines)
    )


def _is_plain_footer(options: dict[str, Any]) -> bool:
    """Return whether pandas' Python engine, for footers, reads the rest as we do."""
    return (
        type(options["skipfooter"]) is int
        and options["skipfooter"] > 0
        and options["nrows"] is None
        and options["skip_blank_lines"]
        and options["comment"] is None
        and options["escapechar"] is None
        and options["doublequote"]
        and not options["skipinitialspace"]
        and options["thousands"] is None
        and options["decimal"] == "."
        and len(options["sep"]) == 1
    )


def skipped_lines(skiprows: Any) -> tuple[int, list[int]]:
    """Return the number of lines to skip at the start, and the numbers of others."""
    if skiprows is None or isinstance(skiprows, int):
        return skiprows or 0, []
    if callable(skiprows):
        return 0, []  # called for each line, see `asked_lines`
    different = skiprows if isinstance(skiprows, range) else set(skiprows)
    lines = sorted(line for line in different if line >= 0)
    first = next((i for i, line in enumerate(lines) if i != line), len(lines))
    return first, lines[first:]


def asked_lines(skiprows: Callable[[int], object], num_lines: int) -> list[int] | None:
    """Return the lines that a function skips; None if too many to list in a plan."""
    found = [line for line in range(num_lines) if skiprows(line)]
    return found if len(found) <= _MANY_LINES else None


def _is_character(value: object, *, optional: bool = False) -> bool:
    if value is None:
        return optional
    return isinstance(value, str) and len(value.encode()) == 1


def _are_strings(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return True
    return isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)


def engine_encoding(encoding: Any) -> str | None:
    """Return our name of an encoding, or None where only pandas knows it."""
    if encoding is None:
        return "utf-8"
    try:
        return _ENCODINGS.get(codecs.lookup(encoding).name)
    except (LookupError, TypeError):
        return None  # pandas reports the error


def engine_compression(compression: Any) -> str | None:
    """Return our name of a compression, or None if inferred from the name."""
    if isinstance(compression, Mapping):
        compression = compression.get("method")
    if compression == "infer":
        return None
    return "none" if compression is None else str(compression)


def _is_compression(compression: Any, paths: Iterable[str]) -> bool:
    if isinstance(compression, Mapping) and list(compression) != ["method"]:
        return False
    method = engine_compression(compression)
    if method is None:
        return not for_pandas_only(paths)
    if method == "xz" and not _core.can_read_xz():
        return False
    return method == "none" or method in _COMPRESSIONS


def _are_listed_strings(value: Any) -> bool:
    return value is None or (
        isinstance(value, list) and all(isinstance(one, str) for one in value)
    )


def _is_number_mark(value: object, options: dict[str, Any]) -> bool:
    """Return whether a character has no other meaning in numbers or fields."""
    return (
        isinstance(value, str)
        and len(value) == 1
        and value.isascii()
        and not value.isalnum()
        and value not in "+-\r\n\0"
        and value not in (options["quotechar"], options["escapechar"])
    )


def _are_missing_values(options: dict[str, Any]) -> bool:
    value = options["na_values"]
    if isinstance(value, Mapping):
        has_names = options["header"] is not None or options["names"] is not None
        return has_names and all(
            isinstance(name, str) and _are_texts_or_numbers(ones)
            for name, ones in value.items()
        )
    return _are_texts_or_numbers(value)


def _are_texts_or_numbers(value: Any) -> bool:
    if value is None:
        return True
    listed = value if pd.api.types.is_list_like(value) else [value]
    return all(isinstance(one, str | int | float | np.integer) for one in listed)


def spelled(na_values: Any) -> list[str]:
    """Return texts for missing values as pandas does: of 1 also 1.0, and the reverse.

    Of 2.5 also 2, which pandas takes for missing, too.
    """
    if na_values is None or isinstance(na_values, Mapping):
        return []
    found = []
    for one in na_values if pd.api.types.is_list_like(na_values) else [na_values]:
        found.append(str(one))
        with contextlib.suppress(ValueError, OverflowError):
            number = float(one)
            if number == int(number):
                found += [f"{int(number)}.0", str(int(number))]
            else:
                found.append(str(number))
        with contextlib.suppress(ValueError, OverflowError):
            found.append(str(int(one)))
    return list(dict.fromkeys(found))


def spelled_by_column(na_values: Any) -> dict[str, list[str]]:
    """Return the texts for missing values that single columns have."""
    if not isinstance(na_values, Mapping):
        return {}
    return {name: spelled(values) for name, values in na_values.items()}


def _is_index(options: dict[str, Any]) -> bool:
    """Return whether we make columns the index: by name, or by position among all."""
    wanted = options["index_col"]
    if wanted is None:
        return True
    listed = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    by_name = all(isinstance(one, str) for one in listed)
    by_position = all(type(one) is int and one >= 0 for one in listed)
    whole = options["usecols"] is None and options["names"] is None
    return bool(listed) and whole and (by_name or by_position)


def _chooses(options: dict[str, Any]) -> bool:
    """Return whether we choose columns as pandas does."""
    usecols, names = options["usecols"], options["names"]
    if usecols is None or isinstance(usecols, str):
        return True
    if callable(usecols):
        return names is None and options["header"] is not None
    listed = list(usecols)
    if not listed:
        return False
    return all(isinstance(one, str) for one in listed) or names is None


def pandas_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are not pandas' own defaults, to pass on."""
    known = inspect.signature(pd.read_csv).parameters
    changed = {}
    for name, value in options.items():
        if name in _NOT_PASSED:
            continue
        default = _OUR_DEFAULTS.get(name, known[name].default)
        if type(value) is not type(default) or value != default:
            changed[name] = value
    # pandas would warn when it chooses this engine itself.
    sep = options["sep"]
    has_odd_sep = sep is None or (len(sep.encode()) > 1 and sep != r"\s+")
    if has_odd_sep or options["skipfooter"] or callable(options["on_bad_lines"]):
        changed.setdefault("engine", "python")
    return changed


def pandas_read_csv(
    paths: list[str], options: dict[str, Any], folders: Folders
) -> pa.Table:
    """Read the files of a partition; runs in a worker process."""
    return read_whole(pd.read_csv, paths, options, folders)
