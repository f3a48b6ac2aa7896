# SPDX-License-Identifier: Apache-2.0
"""Which columns a reader gives: names, types, index, as pandas words it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.spark.ddl import parse_ddl

__all__ = ["ColumnPlan", "Columns"]


@dataclass(frozen=True)
class ColumnPlan:
    """The columns to read from a file, and their new names and types."""

    #: New names by the file's names, of the requested columns, in order.
    names: dict[str, str]
    #: Types by new name.
    types: dict[str, Any]
    index: Any
    squeeze: bool


@dataclass(frozen=True)
class Columns:
    """What was asked for."""

    names: list[str] | None = None
    schema: dict[str, str] | None = None
    usecols: list[Any] | Callable[[str], object] | None = None
    dtype: Any = None
    index_col: Any = None
    squeeze: bool = False

    @classmethod
    def take(cls, options: dict[str, Any]) -> Columns:
        """Take what is about columns out of a reader's options."""
        names = options.pop("names", None)
        usecols = options.pop("usecols", None)
        schema = parse_ddl(names) if isinstance(names, str) else None
        listed = None if names is None or schema is not None else list(names)
        if listed is not None and len(set(listed)) != len(listed):
            msg = f"Found duplicate names, please check your names input: {listed}"
            raise OrcaInputError(msg)
        return cls(
            names=listed,
            schema=schema,
            usecols=usecols if usecols is None or callable(usecols) else list(usecols),
            dtype=options.pop("dtype", None),
            index_col=options.pop("index_col", None),
            squeeze=bool(options.pop("squeeze", False)),
        )

    def plan(self, there: list[str]) -> ColumnPlan:
        """Choose the columns to read from those of the file."""
        chosen = self._choose(there)
        if self.names is not None and len(self.names) != len(there):
            names = dict(zip(chosen, self.names, strict=True))
        else:
            all_names = dict(zip(there, self.names or there, strict=True))
            names = {column: all_names[column] for column in chosen}
        new = list(names.values())
        return ColumnPlan(names, self._types(new), self._index(new), self.squeeze)

    def _choose(self, there: list[str]) -> list[str]:
        renamed = self.names is not None and len(self.names) == len(there)
        labels = self.names if renamed and self.names is not None else there
        if self.usecols is None:
            if self.names is not None and not renamed:
                msg = (
                    f"The number of names [{len(self.names)}] does not match the "
                    f"number of columns [{len(there)}]. Try names by a Spark SQL "
                    "DDL-formatted string."
                )
                raise OrcaInputError(msg)
            return there
        if callable(self.usecols):
            wanted = [label for label in labels if self.usecols(label)]
        else:
            wanted = [self._label(one, labels) for one in self.usecols]
        if self.names is not None and not renamed and len(self.names) != len(wanted):
            msg = (
                f"Passed names did not match usecols: {len(self.names)} names for "
                f"{len(wanted)} of {len(there)} columns"
            )
            raise OrcaInputError(msg)
        return [
            column
            for column, label in zip(there, labels, strict=True)
            if label in wanted
        ]

    def _label(self, wanted: Any, labels: list[str]) -> str:
        if isinstance(wanted, int) and 0 <= wanted < len(labels):
            return labels[wanted]
        if isinstance(wanted, str) and wanted in labels:
            return wanted
        msg = f"usecols do not match columns: {wanted!r} is not among {labels}"
        raise OrcaInputError(msg)

    def _types(self, names: list[str]) -> dict[str, Any]:
        if self.dtype is None:
            return {}
        if not isinstance(self.dtype, Mapping):
            return dict.fromkeys(names, self.dtype)
        types = {}
        for key, wanted in self.dtype.items():
            if isinstance(key, int) and not isinstance(key, bool):
                if key >= len(names):
                    msg = (
                        "column index to be set type is not in current dataframe: "
                        f"{key} of {len(names)} columns"
                    )
                    raise OrcaInputError(msg)
                types[names[key]] = wanted
            elif key in names:
                types[key] = wanted
            else:
                msg = (
                    "column to be set type is not in current dataframe: "
                    f"{key!r} is not among {names}"
                )
                raise OrcaInputError(msg)
        return types

    def _index(self, names: list[str]) -> Any:
        if self.index_col is None or self.index_col is False:
            return None
        many = isinstance(self.index_col, list | tuple)
        found = [
            self._index_name(one, names)
            for one in (self.index_col if many else [self.index_col])
        ]
        return found if many else found[0]

    def _index_name(self, wanted: Any, names: list[str]) -> str:
        if isinstance(wanted, int) and 0 <= wanted < len(names):
            return names[wanted]
        if wanted in names:
            return str(wanted)
        msg = f"The index_col {wanted!r} is not in the columns {names}"
        raise OrcaInputError(msg)
