# SPDX-License-Identifier: Apache-2.0
"""Schemas as Spark writes them: ``"a INT, b STRING"``."""

from __future__ import annotations

import re
from typing import Any

from xshards.compat.errors import OrcaInputError

__all__ = ["parse_ddl"]

_TYPES = {
    "boolean": "bool",
    "byte": "int8",
    "tinyint": "int8",
    "short": "int16",
    "smallint": "int16",
    "int": "int32",
    "integer": "int32",
    "long": "int64",
    "bigint": "int64",
    "float": "float32",
    "real": "float32",
    "double": "float64",
    "string": "str",
}


def parse_ddl(schema: Any) -> dict[str, str]:
    """Give types by column name, of a text or of a Spark StructType.

    Examples
    --------
    >>> parse_ddl("user INT, `unit price` double")
    {'user': 'int32', 'unit price': 'float64'}
    """
    if not isinstance(schema, str):
        # A StructType: its fields have names and types that know their own names.
        pairs = [(each.name, each.dataType.simpleString()) for each in schema.fields]
    else:
        pairs = [_parse_column(part, schema) for part in schema.split(",")]
    types = {}
    for name, kind in pairs:
        if kind.lower() not in _TYPES:
            msg = (
                f"column {name!r} has type {kind!r}; the types known here are "
                f"{', '.join(_TYPES)}"
            )
            raise OrcaInputError(msg)
        types[name] = _TYPES[kind.lower()]
    return types


def _parse_column(part: str, schema: str) -> tuple[str, str]:
    match = re.fullmatch(r"\s*(?:`([^`]+)`|([^\s`:]+))[\s:]+(\w+)\s*", part)
    if match is None:
        msg = f"expected a schema as 'a INT, b STRING', got {schema!r}"
        raise OrcaInputError(msg)
    return match[1] or match[2], match[3]
