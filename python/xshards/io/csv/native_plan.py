# SPDX-License-Identifier: Apache-2.0
"""Plans to read CSV files by the engine.

Each step handles one option. If only pandas supports it, the step raises `PandasNeeded`
with the reason.
"""

from __future__ import annotations

from csv import QUOTE_NONNUMERIC
from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards._util.arguments import as_names
from xshards.context import Context, default_context
from xshards.io.csv.pandas_fallback import (
    asked_lines,
    engine_compression,
    engine_encoding,
    skipped_lines,
    spelled,
    spelled_by_column,
    why_pandas,
)
from xshards.io.csv.separators import ignores_quotes, separator
from xshards.io.csv.times import time_columns, time_formats
from xshards.io.pandas_fallback import PandasNeeded
from xshards.io.paths import Scan
from xshards.io.requested_dtypes import (
    Wanted,
    by_name,
    chosen_columns,
    engine_types,
    with_dtypes,
    with_index,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xshards.shards import XShards

__all__ = ["plan_csv"]


def plan_csv(
    paths: list[str],
    given: Mapping[str, Any],
    more: Mapping[str, Any],
    num_partitions: int,
    block_size: int,
    context: Context | None,
) -> XShards:
    """Plan to read CSV files with the options that `read_csv` was `given`.

    Raises
    ------
    PandasNeeded
        If only pandas supports the options; `more` are those it alone has.
    """
    _require_native(given, more, paths)
    options = _engine_options(given)
    options |= {"num_partitions": num_partitions, "block_size": block_size}
    scan = Scan(_core.read_csv, paths, options, context)
    _skip_asked_lines(scan, given["skiprows"], context)
    types = _requested_types(scan, given["dtype"])
    _choose_columns(scan, given["usecols"])
    times = _time_columns(scan, given)
    types = {name: one for name, one in types.items() if name not in times}
    options["dtype"] = {name: one.read for name, one in types.items() if one.read}
    options["times"] = _time_formats(scan, times, given) if times else {}
    return _with_index(with_dtypes(scan.shards(), types), given)


def _require_native(
    given: Mapping[str, Any], more: Mapping[str, Any], paths: list[str]
) -> None:
    if more:
        msg = f"only pandas has the option {next(iter(more))!r}"
        raise PandasNeeded(msg)
    option = why_pandas(dict(given), paths)
    if option is not None:
        msg = f"the engine has no {option}={given[option]!r} with these options"
        raise PandasNeeded(msg)


def _engine_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the engine's options; what depends on the files' columns is still open."""
    header = given["header"]
    skiprows, skip_lines = skipped_lines(given["skiprows"])
    return {
        **separator(given["sep"]),
        "skipinitialspace": bool(given["skipinitialspace"]),
        "doublequote": bool(given["doublequote"]),
        "header": None if header == "infer" else header is not None,
        "header_row": header if isinstance(header, int) else 0,
        "names": [] if given["names"] is None else as_names("names", given["names"]),
        "usecols": None,
        "dtype": {},
        "quotechar": None if ignores_quotes(dict(given)) else given["quotechar"],
        "escapechar": given["escapechar"],
        "comment": given["comment"],
        "times": {},
        "na_values": spelled(given["na_values"]),
        "column_na_values": spelled_by_column(given["na_values"]),
        "true_values": given["true_values"] or [],
        "false_values": given["false_values"] or [],
        "decimal": given["decimal"],
        "thousands": given["thousands"],
        "numbers_are_floats": given["quoting"] == QUOTE_NONNUMERIC,
        "keep_default_na": bool(given["keep_default_na"]),
        "na_filter": bool(given["na_filter"]),
        "skiprows": skiprows,
        "skipfooter": given["skipfooter"],
        "skip_lines": skip_lines,
        "skip_blank_lines": bool(given["skip_blank_lines"]),
        "on_bad_lines": given["on_bad_lines"],
        "encoding": engine_encoding(given["encoding"]),
        "compression": engine_compression(given["compression"]),
        "nrows": given["nrows"],
    }


def _skip_asked_lines(scan: Scan, skiprows: Any, context: Context | None) -> None:
    """Call the user's function for the lines to skip."""
    if not callable(skiprows):
        return
    where = (context or default_context())._core
    num_lines = _core.count_csv_lines(where, scan.paths, scan.options)
    lines = asked_lines(skiprows, num_lines)
    if lines is None:
        msg = "skiprows skips more lines than a plan can list"
        raise PandasNeeded(msg)
    first, others = skipped_lines(lines)
    scan.options |= {"skiprows": first, "skip_lines": others}


def _requested_types(scan: Scan, dtype: Any) -> dict[str, Wanted]:
    """Return the types of columns that are not to be inferred."""
    types = by_name(dtype, lambda: scan.shards()._full_schema().names)
    wanted = engine_types(types)
    if wanted is None:
        msg = f"the engine does not read dtype={dtype!r}"
        raise PandasNeeded(msg)
    if wanted and any(name in wanted for name in scan.shards()._hidden()):
        msg = "dtype names a column that becomes the index"
        raise PandasNeeded(msg)
    return wanted


def _choose_columns(scan: Scan, usecols: Any) -> None:
    """Read only the columns asked for: by name, by position, or by a function."""
    if usecols is None:
        return
    if isinstance(usecols, str):
        scan.options["usecols"] = [usecols]
        return
    by_label = not callable(usecols) and all(isinstance(one, str) for one in usecols)
    if not by_label and scan.shards()._hidden():
        msg = "usecols counts the columns of an index that the files only imply"
        raise PandasNeeded(msg)
    if by_label:
        scan.options["usecols"] = list(usecols)
        return
    shards = scan.shards()
    scan.options["usecols"] = chosen_columns(
        usecols, shards._labels(), shards.schema.names
    )


def _time_columns(scan: Scan, given: Mapping[str, Any]) -> list[str]:
    """Name the columns to read as times."""
    times = time_columns(given["parse_dates"], given["index_col"], scan.shards)
    if times is None:
        msg = "parse_dates counts the columns of an index that the files only imply"
        raise PandasNeeded(msg)
    return times


def _time_formats(
    scan: Scan, times: list[str], given: Mapping[str, Any]
) -> dict[str, str]:
    """Find the format of each column of times in the first value it has as text."""
    texts = scan.shards(
        dtype=dict.fromkeys(times, "string"),
        # Skipped lines are reported when the rows are read, not now.
        on_bad_lines="error" if given["on_bad_lines"] == "error" else "skip",
    )
    texts._check_columns(times, texts.schema.names)
    formats = time_formats(
        times,
        given["date_format"],
        texts,
        may_be_numbers=given["parse_dates"] is True,
    )
    if formats is None:
        msg = f"the engine does not read the times of {', '.join(times)}"
        raise PandasNeeded(msg)
    return formats


def _with_index(shards: XShards, given: Mapping[str, Any]) -> XShards:
    """Make the columns asked for the index."""
    if given["index_col"] is None:
        # Only a row shows that there are more fields than names.
        return shards._without_index() if given["nrows"] == 0 else shards
    if shards._hidden():
        msg = "index_col is given, but the files already imply an index"
        raise PandasNeeded(msg)
    return with_index(shards, given["index_col"], header=given["header"])
