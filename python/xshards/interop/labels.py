# SPDX-License-Identifier: Apache-2.0
"""Column labels of any kind, and the engine's names for them.

The engine's columns have distinct strings for names. A label that is a string is its
own name; any other label is named as it prints, and the second column of a name gets
``.1`` added, the next ``.2``. The label itself is noted in the field. The note repeats
the name it was made for, so that a column which is renamed goes by its new name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards._util.deferred import pd
from xshards.interop.field_metadata import INDEX, LABEL, load_text, marks_of, store_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from xshards.interop.field_metadata import Marks

__all__ = [
    "decode_label",
    "encode_label",
    "engine_names",
    "hidden_names",
    "index_mark",
    "label_marks",
    "label_of",
    "labelled_names",
    "level_of",
    "same_label",
    "to_columns",
]


def encode_label(label: Any) -> Any:
    """Turn a label into something JSON can hold."""
    if isinstance(label, np.generic) and not isinstance(
        label, np.datetime64 | np.timedelta64
    ):
        label = label.item()
    if label is None or type(label) in (str, int, bool):
        return label
    if type(label) is float and np.isfinite(label):
        return label
    if type(label) is tuple:
        return {"tuple": [encode_label(part) for part in label]}
    return {"pickle": store_text(label)}


def decode_label(encoded: Any) -> Any:
    """Undo `encode_label`; LookupError where another session, or none, wrote it."""
    match encoded:
        case {"tuple": list(parts)}:
            return tuple(decode_label(part) for part in parts)
        case {"pickle": str(text)}:
            return load_text(text)
        case dict() | list():
            msg = f"not a label: {encoded!r}"
            raise LookupError(msg)
    return encoded


def _read_note(text: str | None) -> tuple[Any, Any] | None:
    """Read the two parts of a note; None if there is none, or it is not ours."""
    if text is None:
        return None
    try:
        first, second = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return first, second


def engine_names(labels: Sequence[Any], taken: Iterable[str] = ()) -> list[str]:
    """Name columns by their labels, all names different.

    Examples
    --------
    >>> engine_names(["a", 0, "a", ("b", 1)])
    ['a', '0', 'a.1', "('b', 1)"]
    """
    used = set(taken)
    names: list[str | None] = [None] * len(labels)
    # A string label keeps its own name, at any position.
    for position, label in enumerate(labels):
        if isinstance(label, str) and label not in used:
            names[position] = label
            used.add(label)
    return [
        _new_name(str(label), used) if name is None else name
        for name, label in zip(names, labels, strict=True)
    ]


def _new_name(wanted: str, used: set[str]) -> str:
    name, number = wanted, 0
    while name in used:
        number += 1
        name = f"{wanted}.{number}"
    used.add(name)
    return name


def label_marks(name: str, label: Any) -> Marks:
    """Note a label, unless it is the column's name."""
    if type(label) is str and label == name:
        return {}
    return {LABEL: json.dumps([name, encode_label(label)])}


def label_of(field: pa.Field) -> Any:
    """Return the label of a column."""
    noted = _read_note(marks_of(field).get(LABEL)) if field.metadata else None
    if noted is None:
        return field.name
    name, encoded = noted
    if name != field.name:
        return field.name
    try:
        return decode_label(encoded)
    except LookupError:
        return field.name


def index_mark(number: int, name: Any) -> Marks:
    """Note that a column holds a level of the index."""
    return {INDEX: json.dumps([number, encode_label(name)])}


def level_of(field: pa.Field) -> tuple[int, Any] | None:
    """Return the number and name of the index level a column holds; None if none."""
    noted = _read_note(marks_of(field).get(INDEX)) if field.metadata else None
    if noted is None or type(noted[0]) is not int:
        return None
    number, encoded = noted
    try:
        return number, decode_label(encoded)
    except LookupError:
        return number, None


def hidden_names(schema: pa.Schema) -> list[str]:
    """Name the columns that hold the index."""
    return [field.name for field in schema if level_of(field) is not None]


@dataclass(frozen=True)
class LabelledNames:
    """The labels of columns, in order, and the engine's names of those columns."""

    labels: list[Any]
    names: list[str]
    by_text: dict[str, list[str]]

    def find(self, label: Any) -> list[str]:
        """Return the names of the columns of a label; empty if there are none."""
        if isinstance(label, str):
            return self.by_text.get(label, [])
        return [
            name
            for own, name in zip(self.labels, self.names, strict=True)
            if same_label(own, label)
        ]


def labelled_names(schema: pa.Schema) -> LabelledNames:
    """Look up the labels of all columns of a schema, without those of the index."""
    visible = [field for field in schema if level_of(field) is None]
    labels = [label_of(field) for field in visible]
    names = [field.name for field in visible]
    by_text: dict[str, list[str]] = {}
    for label, name in zip(labels, names, strict=True):
        if isinstance(label, str):
            by_text.setdefault(label, []).append(name)
    return LabelledNames(labels, names, by_text)


def same_label(one: Any, other: Any) -> bool:
    """Compare labels as pandas does: missing ones are equal, True is not 1."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other  # the common case, without importing pandas
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    try:
        return bool(one == other) or (pd.isna(one) is True and pd.isna(other) is True)
    except (TypeError, ValueError):
        return False


def to_columns(labels: Sequence[Any], axis: Iterable[Any]) -> pd.Index[Any]:
    """Make the columns of a frame; `axis` names its levels, empty for one without."""
    names = list(axis)
    if len(names) > 1 and all(
        isinstance(label, tuple) and len(label) == len(names) for label in labels
    ):
        if labels:
            return pd.MultiIndex.from_tuples(labels, names=names)
        return pd.MultiIndex.from_arrays([[]] * len(names), names=names)
    name = names[0] if len(names) == 1 else None
    # Without a dtype, an empty index would have dtype object, not str.
    dtype = None if labels else "str"
    return pd.Index(list(labels), dtype=dtype, name=name, tupleize_cols=False)
