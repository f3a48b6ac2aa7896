# SPDX-License-Identifier: Apache-2.0
"""Text in parts: what `str.split` gives, and the pattern that `str.extract` takes."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from xshards._util.public_names import name_methods
from xshards.errors import XShardsNotImplementedError, XShardsValueError
from xshards.expressions import Expression
from xshards.interop.field_metadata import DTYPE, MISSING

__all__ = ["PartMethods", "SplitText", "extract_text"]

# In pandas the parts of a text, and each part, are Python objects.
_OBJECT = {DTYPE: "object", MISSING: "nan"}

_MOST_FROM_END = 50  # each number of parts is a separate case


class SplitText(Expression):
    """The parts of a text, a list in each row; made by ``str.split``."""

    __slots__ = ("_from_end", "_most", "_parts", "_separator", "_text")

    def __init__(
        self, text: Expression, separator: str, most: int, *, from_end: bool
    ) -> None:
        self._text, self._separator = text, separator
        self._most, self._from_end = most, from_end
        self._parts = text.call("text_split", separator, most, int(from_end))
        lists = self._parts._noted(pa.list_(pa.large_string()), _OBJECT)
        super().__init__(lists._core)

    @property
    def str(self) -> Any:
        """Functions of the parts of a text: one part, or their number."""
        return PartMethods(self)


class PartMethods:
    """Functions of the parts of a text; reached as ``expression.str.split("-").str``.

    Examples
    --------
    >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a-b-c", "d"]}))
    >>> parts = xs.col("s").str.split("-")
    >>> found = shards.assign(first=parts.str[0], last=parts.str[-1])
    >>> found.to_pandas()[["first", "last"]].values.tolist()
    [['a', 'c'], ['d', 'd']]
    """

    __slots__ = ("_of",)

    def __init__(self, of: SplitText) -> None:
        self._of = of

    def len(self) -> Expression:
        """Count the parts.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a-b", "c"]}))
        >>> found = xs.col("s").str.split("-").str.len()
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        [2, 1]
        """
        return self._of._parts.call("list_value_length").cast("int64")

    def get(self, i: int) -> Expression:
        """Return the i-th part; missing if there are fewer.

        Parameters
        ----------
        i : int
            The position, from the end if it is negative.

        Returns
        -------
        Expression

        Raises
        ------
        NotImplementedError
            If `i` counts from the end of more than 50 parts.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a-b", "c"]}))
        >>> found = xs.col("s").str.split("-").str.get(-1)
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        ['b', 'c']
        """
        return self._get(i)._noted(pa.large_string(), _OBJECT)

    def __getitem__(self, key: object) -> Expression:
        """Return a part: ``xs.col("s").str.split("-").str[0]``."""
        if not isinstance(key, int):
            msg = f"only single parts are supported, such as .str[0], got {key!r}"
            raise XShardsNotImplementedError(msg)
        return self.get(key)

    def _get(self, i: int) -> Expression:
        of = self._of
        if i >= 0:
            return of._parts.call("list_get", i)
        if of._most < 0:
            # When splitting from the end, this bounds the number of parts.
            cut = SplitText(of._text, of._separator, -i, from_end=True)
            return PartMethods(cut)._from_end(i, -i + 1)
        return self._from_end(i, of._most + 1)

    def _from_end(self, i: int, most: int) -> Expression:
        """Return a part counted from the end of at most `most` parts."""
        if most > _MOST_FROM_END:
            msg = (
                f"counting from the end needs at most {_MOST_FROM_END} parts, got "
                f"{most}: use rsplit, or count from the start"
            )
            raise XShardsNotImplementedError(msg)
        parts, count = self._of._parts, self.len()
        found = parts.call("list_get", most)  # an index that never exists
        for length in range(-i, most + 1):
            found = parts.call("list_get", length + i).where(count == length, found)
        return found


name_methods(PartMethods, "Expression.str")


def extract_text(text: Expression, pattern: str) -> Expression:
    """Return what the one group of a pattern matches, missing where it does not."""
    begin, end, optional = _group_of(pattern)
    inside = pattern[begin:end]
    if inside.startswith("?P<"):
        named = pattern
        inside = inside.partition(">")[2]
    else:
        named = f"{pattern[:begin]}?P<part>{pattern[begin:]}"
    found = text.call("text_extract", named)
    if not optional:
        return found
    # The engine gives empty text for a group that did not participate in a match.
    if re.fullmatch(inside, "") is not None:
        msg = (
            "extract cannot distinguish an empty group from an unmatched one: let "
            f"the group match something, got {pattern!r}"
        )
        raise XShardsNotImplementedError(msg)
    return found.where(found != "")


def _group_of(pattern: str) -> tuple[int, int, bool]:
    """Find the contents of the one group of a pattern, and whether it is optional."""
    count = re.compile(pattern).groups
    if count != 1:
        what = "no groups" if count == 0 else f"{count} groups"
        msg = (
            "extract takes a pattern with one group (write others as (?:...)), got "
            f"{pattern!r} with {what}"
        )
        raise XShardsValueError(msg)
    # Outside of character classes, and without escaped characters.
    plain = re.sub(
        r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]",
        lambda match: "x" * len(match[0]),
        pattern,
        flags=re.DOTALL,
    )
    opened: list[int] = []
    spans = []
    for at, character in enumerate(plain):
        if character == "(":
            opened.append(at)
        elif character == ")":
            spans.append((opened.pop(), at))
    begin, end = next(
        (b, e)
        for b, e in spans
        if not plain.startswith("(?", b) or plain.startswith("(?P<", b)
    )
    around = [(b, e) for b, e in spans if b <= begin and end <= e]
    skipped = any(re.match(r"[?*]|\{0?,", plain[e + 1 :]) for _, e in around)
    skipped = skipped or any(re.match(r"\{0\}", plain[e + 1 :]) for _, e in around)
    outside = plain[:begin] + plain[end + 1 :]
    return begin + 1, end, skipped or "|" in outside
