# SPDX-License-Identifier: Apache-2.0
"""The notes a column carries as Arrow field metadata, and what is safe to read in them.

What pandas knows of a column beyond its Arrow type travels with the column's field, so
that it follows the column through plans. Some notes, and the cells of opaque columns,
are pickles. Each begins with the token of this session, which files written by others
cannot have: data never decides by itself that it gets unpickled.
"""

from __future__ import annotations

import base64
import hmac
import pickle
import secrets
from typing import TYPE_CHECKING, Any

import cloudpickle
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ARROW_TYPE",
    "CATEGORIES",
    "DTYPE",
    "INDEX",
    "LABEL",
    "MISSING",
    "OPAQUE",
    "ORDERED",
    "SCHEMA_NOTE",
    "Marks",
    "is_ours",
    "join_session",
    "load_object",
    "load_text",
    "marked",
    "marks_of",
    "session_token",
    "store_object",
    "store_text",
]

Marks = dict[str, str]

#: The dtype, if it does not follow from Arrow's type.
DTYPE = "pandas.dtype"
#: Of a category: all categories in order, as an Arrow IPC stream of one column.
CATEGORIES = "pandas.categories"
#: Of a category: "1" if its categories are ordered.
ORDERED = "pandas.ordered"
#: Of an ArrowDtype: the type it had before the engine gave it its own.
ARROW_TYPE = "pandas.arrow_type"
#: Of an object column: what null stands for, see `_cells`.
MISSING = "pandas.missing"
#: The label, if it is not the column's name: [name, label] as JSON.
LABEL = "pandas.label"
#: Of a hidden column: [level number, level name] as JSON.
INDEX = "pandas.index"
#: "pickle", of a column of pickled Python objects; "json", of a column of JSON text
#: that stands for Python objects (io/json/structure.cc makes these).
OPAQUE = "xshards.opaque"

#: The one key of a schema's metadata that is ours: a `FrameInfo` as JSON.
SCHEMA_NOTE = b"xshards"

_token = secrets.token_bytes(16)


def session_token() -> bytes:
    """Return the token that workers need to read the pickles of this session."""
    return _token


def join_session(token: bytes) -> None:
    """Make this process, a worker, one of the session with that token."""
    global _token
    _token = token


def store_object(value: Any) -> bytes:
    """Pickle a value, for this session only."""
    pickled: bytes = cloudpickle.dumps(value, protocol=5)
    return _token + pickled


def is_ours(content: bytes | None) -> bool:
    """Return whether this session pickled something."""
    return content is not None and hmac.compare_digest(content[: len(_token)], _token)


def load_object(content: bytes) -> Any:
    """Unpickle a value that this session pickled; LookupError for any other."""
    if not is_ours(content):
        msg = "this session did not pickle it"
        raise LookupError(msg)
    return pickle.loads(content[len(_token) :])


def store_text(value: Any) -> str:
    """Pickle a value into text, for this session only."""
    return base64.b64encode(store_object(value)).decode()


def load_text(text: str) -> Any:
    """Restore a value that this session stored; LookupError for any other."""
    try:
        content = base64.b64decode(text)
    except ValueError as error:
        raise LookupError(str(error)) from error
    return load_object(content)


def marks_of(field: pa.Field) -> Marks:
    """Read the notes of a field."""
    if field.metadata is None:
        return {}
    # Notes of others may hold any bytes.
    return {
        key.decode(errors="replace"): value.decode(errors="replace")
        for key, value in field.metadata.items()
    }


def marked(name: str, arrow: pa.DataType, marks: Mapping[str, str]) -> pa.Field:
    """Make a field that carries notes."""
    return pa.field(name, arrow, metadata=dict(marks) if marks else None)
