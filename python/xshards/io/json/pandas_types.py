# SPDX-License-Identifier: Apache-2.0
"""The dtypes that pandas.read_json finds for the columns and labels of a document.

The engine has parsed the values into Arrow columns of the types of JSON records. pandas
goes further: it makes numbers of text, and times of labels and of columns with certain
names. Numbers are converted here; text that may be a number or a time, and values of
several kinds, are given to pandas itself, one column at a time, as JSON.
"""

from __future__ import annotations

import contextlib
import json
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pc, pd
from xshards.interop.field_metadata import OPAQUE, marks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["column_labels", "converted", "raw_column", "row_labels"]

# Parts of the names of columns that pandas looks for times in.
_PARTS_OF_TIME_NAMES = ("_at", "_time", "modified", "date", "timestamp")
_UNITS: tuple[Literal["s", "ms", "us", "ns"], ...] = ("s", "ms", "us", "ns")
_LEAST = np.iinfo(np.int64).min  # a missing time


def raw_column(values: pa.Array, field: pa.Field) -> pd.Series[Any]:
    """Give the values of a column as pandas has them before it looks for dtypes."""
    if _is_json(field):
        if values.null_count == len(values):
            return pd.Series(np.full(len(values), np.nan))
        absent_as_nan = pc.fill_null(values, "NaN").to_pylist()
        cells = json.loads(f"[{','.join(absent_as_nan)}]")
        return pd.Series(_objects(cells), dtype=object)
    frame: pd.DataFrame = pa.table([values], names=["values"]).to_pandas()
    return frame["values"].rename(None)


def converted(
    label: Any, values: pa.Array, field: pa.Field, dtype: Any = None
) -> pd.Series[Any]:
    """Give a column of the dtype that pandas finds, or is asked for by `dtype`."""
    if dtype is False or (dtype is not None and dtype is not True and not dtype):
        raw = raw_column(values, field)
        return raw if raw.notna().all() else raw.fillna(np.nan)
    may_be_times = _names_times(label)
    if dtype is not None and dtype is not True and not may_be_times:
        asked = dtype.get(label) if isinstance(dtype, dict) else dtype
        if asked is not None:
            return _as_asked(raw_column(values, field), asked)
    if _is_json(field):
        return _mixed(label, values, field)
    if pa.types.is_large_string(values.type):
        return _text(label, values, may_be_times=may_be_times)
    if pa.types.is_boolean(values.type) and values.null_count:
        values = values.cast(pa.uint8()).cast(pa.float64())
    raw = raw_column(values, field)
    times = _times(label, raw) if may_be_times and raw.dtype != bool else None
    return _integers_if_whole(raw) if times is None else times


def column_labels(names: Sequence[str] | str) -> pd.Index[Any]:
    """Give the labels of columns as pandas converts them; or those of a JSON array."""
    array = names if isinstance(names, str) else json.dumps(list(names))
    document = f'{{"columns":{array},"data":[]}}'
    labels: pd.Index[Any] = _read(document, orient="split").columns
    return labels


def row_labels(values: pa.Array, field: pa.Field, orient: str) -> pd.Index[Any]:
    """Give the labels of rows as pandas converts them."""
    raw = raw_column(values, field)
    if _is_json(field):
        if _has_huge_integer(values):
            labels: pd.Index[Any] = pd.Index(raw, dtype=object)
            return labels
    elif pa.types.is_large_string(values.type) and values.null_count == 0:
        return _text_labels(values, raw, orient)
    elif values.type == pa.int64() and values.null_count == 0:
        return _integer_labels(values)
    return _labels_by_pandas(_texts(values, field), orient)


def _text_labels(values: pa.Array, raw: pd.Series[Any], orient: str) -> pd.Index[Any]:
    if orient != "split":
        with contextlib.suppress(pa.ArrowInvalid):
            return _integer_labels(values.cast(pa.int64()))
    # A label that is no number and no time keeps all of them text.
    first = _labels_by_pandas([json.dumps(values[0].as_py())], orient)
    if isinstance(first.dtype, pd.StringDtype):
        labels: pd.Index[Any] = pd.Index(raw)
        return labels
    return _labels_by_pandas([json.dumps(text) for text in values.to_pylist()], orient)


def _is_json(field: pa.Field) -> bool:
    return marks_of(field).get(OPAQUE) == "json"


def _objects(cells: list[Any]) -> np.ndarray[Any, Any]:
    return np.fromiter(cells, object, len(cells))


def _as_asked(raw: pd.Series[Any], dtype: Any) -> pd.Series[Any]:
    try:
        return raw.astype(dtype)
    except (TypeError, ValueError):
        return raw  # as pandas does


def _mixed(label: Any, values: pa.Array, field: pa.Field) -> pd.Series[Any]:
    """Convert values of several kinds; of objects and arrays, pandas keeps all."""
    kinds = pc.utf8_slice_codeunits(values, 0, 1)
    if pc.any(pc.is_in(kinds, value_set=pa.array(["{", "["], kinds.type))).as_py():
        return raw_column(values, field)
    if _has_huge_integer(values):
        return raw_column(values, field)
    return _by_pandas(label, values.to_pylist())


def _has_huge_integer(values: pa.Array) -> bool:
    """Tell whether there are integers beyond 64 bits, which pandas would change."""
    long = values.filter(pc.match_substring_regex(values, r"^-?[0-9]{19,}$"))
    return any(not -(2**63) <= int(text) < 2**64 for text in long.to_pylist())


def _text(label: Any, values: pa.Array, *, may_be_times: bool) -> pd.Series[Any]:
    """Convert text: pandas makes numbers or times of all values or of none."""
    first = pc.drop_null(values)[0].as_py()
    if may_be_times:
        begins = _by_pandas(label, [json.dumps(first)])
        stays_text = isinstance(begins.dtype, pd.StringDtype)
    else:
        stays_text = not _is_number(first)
    if stays_text:
        return raw_column(values, pa.field("", values.type))
    return _by_pandas(label, [json.dumps(text) for text in values.to_pylist()])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _names_times(label: Any) -> bool:
    """Tell whether pandas makes times of a column of this name."""
    if not isinstance(label, str):
        return False
    if not any(part in label.lower() for part in _PARTS_OF_TIME_NAMES):
        return False
    return _by_pandas(label, ["2000000000"]).dtype.kind == "M"


def _times(label: Any, raw: pd.Series[Any]) -> pd.Series[Any] | None:
    """Give the times that numbers stand for; None if pandas takes them for numbers."""
    least, most = raw.min(), raw.max()
    if raw.dtype.kind == "u" or least == _LEAST or not np.isfinite([least, most]).all():
        found = _by_pandas(label, _number_texts(raw))
        return found if found.dtype.kind == "M" else None
    ends = pd.Series([least, most], dtype=raw.dtype)
    found = _by_pandas(label, _number_texts(ends))
    if found.dtype.kind != "M":
        return None
    for unit in _UNITS:
        try:
            if (pd.to_datetime(ends, unit=unit) == found).all():
                times: pd.Series[Any] = pd.to_datetime(raw, unit=unit)
                return times
        except (ValueError, OverflowError):  # beyond what the unit holds
            continue
    return None


def _number_texts(numbers: pd.Series[Any]) -> list[str]:
    return [json.dumps(number) for number in numbers.tolist()]


def _integers_if_whole(raw: pd.Series[Any]) -> pd.Series[Any]:
    """Make integers of floats that all are; NaN is none."""
    if raw.dtype != np.float64:
        return raw
    values = raw.to_numpy()
    is_in_range = (values >= -(2.0**63)) & (values < 2.0**63)
    if not is_in_range.all():
        return raw
    whole = values.astype(np.int64)
    return pd.Series(whole) if (whole == values).all() else raw


def _integer_labels(values: pa.Array) -> pd.Index[Any]:
    numbers = pd.Series(values.to_numpy())
    times = _times("date", numbers)
    return pd.Index(numbers if times is None else times)


def _texts(values: pa.Array, field: pa.Field) -> list[str]:
    """Give values as JSON."""
    if _is_json(field):
        return list(pc.fill_null(values, "null").to_pylist())
    return [json.dumps(value) for value in values.to_pylist()]


def _labels_by_pandas(texts: list[str], orient: str) -> pd.Index[Any]:
    if orient == "split":
        data = ",".join(["[0]"] * len(texts))
        labels = ",".join(texts)
        document = f'{{"columns":["x"],"index":[{labels}],"data":[{data}]}}'
        labelled = _read(document, orient="split")
        return labelled.index
    rows = ",".join(f"{text}:0" for text in texts)
    return _read(f'{{"x":{{{rows}}}}}', orient="columns").index


def _by_pandas(label: Any, texts: Sequence[str | None]) -> pd.Series[Any]:
    """Have pandas convert a column of JSON values; None is an absent one."""
    name = label if isinstance(label, str) else "x"
    cells = [text for text in texts if text is not None]
    if len(cells) == len(texts):
        document = f"{{{json.dumps(name)}:[{','.join(cells)}]}}"
        frame = _read(document, orient="columns", convert_axes=False)
    else:
        rows = ",".join(f'"{row}":0' for row in range(len(texts)))
        known = ",".join(
            f'"{row}":{text}' for row, text in enumerate(texts) if text is not None
        )
        first = "" if name else "x"  # has all rows, in order
        document = f'{{"{first}":{{{rows}}},{json.dumps(name)}:{{{known}}}}}'
        frame = _read(document, orient="columns", convert_axes=False)
    return frame.iloc[:, -1].reset_index(drop=True)


def _read(document: str, **options: Any) -> pd.DataFrame:
    frame: pd.DataFrame = pd.read_json(
        StringIO(document), precise_float=True, **options
    )
    return frame
