# SPDX-License-Identifier: Apache-2.0
"""String functions that look for text and regular expressions."""

from __future__ import annotations

import operator
import re
from functools import reduce
from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.expressions.accessor import Accessor

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.expressions.expression import Expression

__all__ = ["PatternMethods"]


def _anchored(
    name: str, end: str, doc: str, results: list[bool]
) -> Callable[..., Expression]:
    """Make the method that looks for a pattern at the start, up to an `end`."""

    def method(
        self: PatternMethods,
        pattern: str,
        case: bool = True,  # noqa: FBT001 - as pandas
        flags: int = 0,
        na: Any = None,
    ) -> Expression:
        return self.contains(rf"\A(?:{pattern}){end}", case, flags, na)

    method.__doc__ = f"""{doc}

        Parameters
        ----------
        pattern, case, flags, na
            See `contains`.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({{"s": ["ab", "abc", "cab"]}}))
        >>> shards.assign(s=xs.col("s").str.{name}("a.")).to_pandas()["s"].tolist()
        {results}
        """
    return method


class PatternMethods(Accessor):
    """Find, count, match, extract and replace."""

    __slots__ = ()

    def count(self, pattern: str) -> Expression:
        """Count the occurrences of a regular expression.

        Parameters
        ----------
        pattern : str
            A regular expression (RE2's syntax).

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["banana", "x"]}))
        >>> shards.assign(s=xs.col("s").str.count("an")).to_pandas()["s"].tolist()
        [2, 0]
        """
        return self._of.call("text_count", pattern)

    def find(self, sub: str) -> Expression:
        """Return the position of the first `sub` in the text, -1 if there is none.

        Parameters
        ----------
        sub : str
            The text to look for.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["banana", "x"]}))
        >>> shards.assign(s=xs.col("s").str.find("an")).to_pandas()["s"].tolist()
        [1, -1]
        """
        # The text from the match on is removed, and the characters of the rest are
        # counted.
        before = self.replace(f"(?s){re.escape(sub)}.*", "", regex=True)
        there = self.contains(sub, regex=False)
        return before.str.len().where(there | self._of.isna(), -1)

    def rfind(self, sub: str) -> Expression:
        """Return the position of the last `sub` in the text, -1 if there is none.

        Parameters
        ----------
        sub : str
            The text to look for.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["banana", "x"]}))
        >>> shards.assign(s=xs.col("s").str.rfind("an")).to_pandas()["s"].tolist()
        [3, -1]
        """
        before = self.replace(f"(?s)(.*){re.escape(sub)}.*", r"\1", regex=True)
        there = self.contains(sub, regex=False)
        return before.str.len().where(there | self._of.isna(), -1)

    def startswith(self, prefix: str | tuple[str, ...], na: Any = None) -> Expression:
        """Return whether the text starts with `prefix`, or one of several.

        Parameters
        ----------
        prefix : str or tuple of str
            What to look for.
        na : bool, optional
            What to give for a missing text; by default as in pandas.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["ab", "ba"]}))
        >>> shards.assign(s=xs.col("s").str.startswith("a")).to_pandas()["s"].tolist()
        [True, False]
        """
        return self._filled(self._match_any("starts_with", prefix), na)

    def endswith(self, suffix: str | tuple[str, ...], na: Any = None) -> Expression:
        """Return whether the text ends with `suffix`, or one of several.

        Parameters
        ----------
        suffix : str or tuple of str
            What to look for.
        na : bool, optional
            What to give for a missing text; by default as in pandas.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a.gz", "a.xz", "a"]}))
        >>> found = xs.col("s").str.endswith((".gz", ".xz"))
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        [True, True, False]
        """
        return self._filled(self._match_any("ends_with", suffix), na)

    def contains(
        self,
        pattern: str,
        case: bool = True,  # noqa: FBT001 - as pandas
        flags: int = 0,
        na: Any = None,
        regex: bool = True,  # noqa: FBT001
    ) -> Expression:
        """Return whether `pattern` occurs in the text.

        Parameters
        ----------
        pattern : str
            A regular expression (RE2's syntax), or plain text with ``regex=False``.
        case : bool, default True
            Whether upper and lower case differ.
        flags : int, default 0
            Of the module `re`: IGNORECASE, MULTILINE and DOTALL.
        na : bool, optional
            What to give for a missing text; by default as in pandas.
        regex : bool, default True
            Whether `pattern` is a regular expression.

        Returns
        -------
        Expression

        Raises
        ------
        ValueError
            If there are other flags.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["Zürich 8001", "Oslo"]}))
        >>> found = xs.col("s").str.contains("[0-9]+")
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        [True, False]
        """
        if regex:
            pattern = _with_flags(pattern, flags)
        function = "match_substring_regex" if regex else "match_substring"
        return self._filled(
            self._match(
                function, pattern, ignore_case=not case or _ignores_case(flags)
            ),
            na,
        )

    match = _anchored(
        "match",
        "",
        "Tell whether the text starts with a regular expression.",
        [True, True, False],
    )
    fullmatch = _anchored(
        "fullmatch",
        r"\z",
        "Tell whether a regular expression matches all of the text.",
        [True, False, False],
    )

    def extract(self, pat: str, flags: int = 0, *, expand: bool = False) -> Expression:
        """Return what the group of a regular expression (RE2's syntax) matches first.

        Parameters
        ----------
        pat : str
            A pattern with one group, as ``r"([0-9]+) km"``.
        flags : int, default 0
            Of the module `re`: IGNORECASE, MULTILINE and DOTALL.
        expand : bool, default False
            Only one column is known, not a DataFrame.

        Returns
        -------
        Expression
            Missing where the pattern does not match.

        Raises
        ------
        NotImplementedError
            If `expand` is true, or the pattern is not known.
        ValueError
            If the pattern does not have one group.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["12 km", "far"]}))
        >>> far = xs.col("s").str.extract("([0-9]+) km").isna()
        >>> list(shards.filter(far).to_pandas()["s"])
        ['far']
        """
        from xshards.expressions.split_text import (
            extract_text,  # avoids a circular import
        )

        if expand:
            msg = "extract returns one column: pass expand=False"
            raise XShardsNotImplementedError(msg)
        return extract_text(self._of, _with_flags(pat, flags))

    def replace(
        self,
        pattern: str,
        replacement: str,
        n: int = -1,
        case: bool = True,  # noqa: FBT001 - as pandas
        flags: int = 0,
        regex: bool = False,  # noqa: FBT001
    ) -> Expression:
        r"""Replace occurrences of `pattern`.

        Parameters
        ----------
        pattern : str
            Plain text, or a regular expression (RE2's syntax) with ``regex=True``.
        replacement : str
            What to put there; ``\1`` is the first group of a regular expression.
        n : int, default -1
            How many to replace in a text, from its start; all by default.
        case : bool, default True
            Whether upper and lower case differ.
        flags : int, default 0
            Of the module `re`: IGNORECASE, MULTILINE and DOTALL.
        regex : bool, default False
            Whether `pattern` is a regular expression.

        Returns
        -------
        Expression

        Raises
        ------
        NotImplementedError
            If `n` is over 1 and the pattern matches empty text.
        ValueError
            If there are other flags.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a-b-c"]}))
        >>> found = xs.col("s").str.replace("-", "+", n=1)
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        ['a+b-c']
        """
        # Arrow would search for an empty text forever.
        if not regex and (not case or _ignores_case(flags) or pattern == ""):
            pattern, replacement = re.escape(pattern), replacement.replace("\\", r"\\")
            regex = True
        if regex:
            pattern = _with_flags(pattern, flags if case else flags | re.IGNORECASE)
        if regex and n > 1 and _matches_nothing(pattern):
            msg = (
                "replace has no n > 1 for a pattern that matches empty text, got "
                f"{pattern!r}"
            )
            raise XShardsNotImplementedError(msg)
        function = "replace_substring_regex" if regex else "replace_substring"
        count = -1 if n == 0 else n
        return type(self._of)(
            _core.Expression.replace(
                function, self._of._core, pattern, replacement, count
            )
        )

    def _filled(self, found: Expression, na: Any) -> Expression:
        return found if na is None else found.where(self._of.notna(), na)

    def _match_any(self, function: str, texts: str | tuple[str, ...]) -> Expression:
        if isinstance(texts, str):
            return self._match(function, texts, ignore_case=False)
        if not isinstance(texts, tuple) or not texts:
            msg = f"expected a string, or a tuple of strings, got {texts!r}"
            raise XShardsTypeError(msg)
        found = [self._match(function, text, ignore_case=False) for text in texts]
        return reduce(operator.or_, found)

    def _match(self, function: str, pattern: str, *, ignore_case: bool) -> Expression:
        return type(self._of)(
            _core.Expression.match(function, self._of._core, pattern, ignore_case)
        )


def _with_flags(pattern: str, flags: int) -> str:
    """Write flags of Python's `re` as RE2 has them in patterns."""
    unknown = flags & ~(re.IGNORECASE | re.MULTILINE | re.DOTALL | re.UNICODE)
    if unknown:
        msg = (
            f"flags can be IGNORECASE, MULTILINE and DOTALL, got {re.RegexFlag(flags)}"
        )
        raise XShardsValueError(msg)
    letters = "".join(
        letter
        for letter, flag in (
            ("i", re.IGNORECASE),
            ("m", re.MULTILINE),
            ("s", re.DOTALL),
        )
        if flags & flag
    )
    return f"(?{letters}){pattern}" if letters else pattern


def _matches_nothing(pattern: str) -> bool:
    """Return whether a pattern matches between characters, where Arrow stays for n."""
    try:
        found = [re.search(pattern, text) for text in ("", "a a")]
    except re.error:  # syntax that only RE2 supports
        return False
    return any(match is not None and match[0] == "" for match in found)


def _ignores_case(flags: int) -> bool:
    return bool(flags & re.IGNORECASE)
