# SPDX-License-Identifier: Apache-2.0
"""What separates the fields of CSV files.

Several characters are a regular expression to pandas, which then knows no quotes. If
the expression is literal text, the engine splits lines at that text.
"""

from __future__ import annotations

from csv import QUOTE_MINIMAL, QUOTE_NONE
from typing import Any

__all__ = ["ignores_quotes", "is_separator", "separator"]

_WHITESPACE = r"\s+"
_OF_EXPRESSIONS = set(".^$*+?{}[]|()")
_ESCAPES = {"t": "\t", "v": "\v", "f": "\f"}


def is_separator(options: dict[str, Any]) -> bool:
    """Return whether we split fields as pandas does, with these options."""
    sep = options["sep"]
    if not isinstance(sep, str):
        return False
    is_odd = options["skipinitialspace"] or not options["doublequote"]
    goes_with_comment = options["comment"] is None and options["skip_blank_lines"]
    if len(sep.encode()) == 1:
        return not is_odd or goes_with_comment
    if sep == _WHITESPACE:
        return goes_with_comment
    return (
        _literal(sep) is not None
        and goes_with_comment
        and not is_odd
        and options["escapechar"] is None
        and options["quoting"] in (QUOTE_MINIMAL, QUOTE_NONE)
        # These have another meaning in pandas' Python engine, which reads such files.
        and options["thousands"] is None
        and options["decimal"] == "."
        and options["encoding"] is None
        and options["float_precision"] is None
        and options["on_bad_lines"] == "error"
        and options["header"] in ("infer", 0, None)
        and isinstance(options["skiprows"], int)
    )


def separator(sep: str) -> dict[str, Any]:
    """Return the engine's options for a separator."""
    if len(sep.encode()) == 1:
        return {"sep": sep, "long_sep": "", "delim_whitespace": False}
    if sep == _WHITESPACE:
        return {"sep": " ", "long_sep": "", "delim_whitespace": True}
    return {"sep": ",", "long_sep": _literal(sep), "delim_whitespace": False}


def ignores_quotes(options: dict[str, Any]) -> bool:
    """Return whether quotes are ordinary characters."""
    sep = options["sep"]
    is_long = len(sep.encode()) > 1 and sep != _WHITESPACE
    return bool(is_long or options["quoting"] == QUOTE_NONE)


def _literal(expression: str) -> str | None:
    """Return the text that a regular expression matches literally, if it does."""
    if len(expression) == 1:
        return None  # such as é: a separator in pandas, with quotes
    text = ""
    characters = iter(expression)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            if escaped.isalnum() or not escaped.isascii() or not escaped:
                if escaped not in _ESCAPES:
                    return None
                escaped = _ESCAPES[escaped]
            text += escaped
        elif character in _OF_EXPRESSIONS:
            return None
        else:
            text += character
    return None if set(text) & set("\r\n\0") else text
