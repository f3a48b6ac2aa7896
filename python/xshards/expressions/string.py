# SPDX-License-Identifier: Apache-2.0
"""String functions of expressions, with pandas' names."""

from __future__ import annotations

import builtins
import operator
import re
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

from xshards import _core
from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.expressions import Expression
    from xshards.expressions.split_text import SplitText

__all__ = ["StringMethods"]

_NO_END = 2**63 - 1
#: What has a meaning in regular expressions.
_SPECIAL = frozenset(r"\^$.|?*+()[]{}")


def _plain(function: str, doc: str) -> Callable[[StringMethods], Expression]:
    """Make the method of a function without arguments."""

    def method(self: StringMethods) -> Expression:
        return self._of.call(function)

    method.__doc__ = doc
    return method


def _anchored(end: str, doc: str) -> Callable[..., Expression]:
    """Make the method that looks for a pattern at the start, up to an `end`."""

    def method(
        self: StringMethods,
        pattern: str,
        case: bool = True,  # noqa: FBT001 - as pandas
        flags: int = 0,
        na: Any = None,
    ) -> Expression:
        return self.contains(rf"\A(?:{pattern}){end}", case, flags, na)

    method.__doc__ = f"{doc}\n\n        See `contains`."
    return method


class StringMethods:
    r"""String functions of an expression; reached as ``expression.str``.

    Regular expressions are RE2's: no looking ahead or back, and ``\w``, ``\d`` and
    ``\s`` are those of ASCII; ``\p{L}`` is any letter.

    Examples
    --------
    >>> shards = xs.from_pandas(pd.DataFrame({"s": [" Ab", "cd "]}))
    >>> text = xs.col("s").str.strip().str.upper().str.slice(0, 1)
    >>> list(shards.with_column("s", text).to_pandas()["s"])
    ['A', 'C']
    """

    __slots__ = ("_of",)

    def __init__(self, of: Expression) -> None:
        self._of = of

    upper = _plain("utf8_upper", "Convert to upper case.")
    lower = _plain("utf8_lower", "Convert to lower case.")
    capitalize = _plain("utf8_capitalize", "Convert the first character to upper case.")
    title = _plain("utf8_title", "Convert the first character of words to upper case.")
    swapcase = _plain("utf8_swapcase", "Swap upper and lower case.")
    len = _plain("utf8_length", "Count the characters.")
    isalnum = _plain("utf8_is_alnum", "Tell whether all are letters or digits.")
    isalpha = _plain("utf8_is_alpha", "Tell whether all are letters.")
    isascii = _plain("string_is_ascii", "Tell whether all are ASCII.")
    isdecimal = _plain("utf8_is_decimal", "Tell whether all are decimal characters.")
    isdigit = _plain("utf8_is_digit", "Tell whether all are digits.")
    islower = _plain("utf8_is_lower", "Tell whether all letters are lower case.")
    isnumeric = _plain("utf8_is_numeric", "Tell whether all are numeric.")
    isspace = _plain("utf8_is_space", "Tell whether all are white space.")
    istitle = _plain("utf8_is_title", "Tell whether words begin in upper case.")
    isupper = _plain("utf8_is_upper", "Tell whether all letters are upper case.")

    def strip(self, characters: str | None = None) -> Expression:
        """Remove white space, or these characters, from both ends."""
        return self._strip("trim", characters)

    def lstrip(self, characters: str | None = None) -> Expression:
        """Remove white space, or these characters, from the start."""
        return self._strip("ltrim", characters)

    def rstrip(self, characters: str | None = None) -> Expression:
        """Remove white space, or these characters, from the end."""
        return self._strip("rtrim", characters)

    def pad(
        self,
        width: int,
        side: Literal["left", "right", "both"] = "left",
        fillchar: str = " ",
    ) -> Expression:
        """Fill up to `width` characters.

        Parameters
        ----------
        width : int
            The least number of characters.
        side : {"left", "right", "both"}
            Where to add them.
        fillchar : str
            The one character to add.
        """
        functions = {"left": "lpad", "right": "rpad", "both": "center"}
        if side not in functions:
            msg = f"side must be left, right or both, got {side!r}"
            raise XShardsValueError(msg)
        return self._of.call("text_pad", functions[side], width, fillchar)

    def ljust(self, width: int, fillchar: str = " ") -> Expression:
        """Fill up on the right."""
        return self.pad(width, "right", fillchar)

    def rjust(self, width: int, fillchar: str = " ") -> Expression:
        """Fill up on the left."""
        return self.pad(width, "left", fillchar)

    def center(self, width: int, fillchar: str = " ") -> Expression:
        """Fill up on both sides."""
        return self.pad(width, "both", fillchar)

    def zfill(self, width: int) -> Expression:
        """Fill up with zeros on the left, behind a sign."""
        return self._of.call("text_zero_fill", width)

    def repeat(self, repeats: int) -> Expression:
        """Repeat the text."""
        return self._of.call("binary_repeat", repeats)

    def slice(
        self, start: int | None = None, stop: int | None = None, step: int | None = None
    ) -> Expression:
        """Cut out characters, as ``text[start:stop:step]`` does; `step` is positive."""
        step = 1 if step is None else step
        if step < 1:
            msg = f"step must be positive, got {step}"
            raise XShardsValueError(msg)
        end = _NO_END if stop is None else stop
        return self._of.call("text_slice", start or 0, end, step)

    def slice_replace(
        self, start: int | None = None, stop: int | None = None, repl: str = ""
    ) -> Expression:
        """Put other text in the place of ``text[start:stop]``."""
        end = _NO_END if stop is None else stop
        return self._of.call("text_replace_slice", start or 0, end, repl)

    def get(self, i: int) -> Expression:
        """Give the i-th character; missing where there is none."""
        one = self.slice(i, None if i == -1 else i + 1)
        return one.where(one != "")

    def removeprefix(self, prefix: str) -> Expression:
        """Remove `prefix` where the text starts with it."""
        return self.slice(len(prefix)).where(self.startswith(prefix), self._of)

    def removesuffix(self, suffix: str) -> Expression:
        """Remove `suffix` where the text ends with it."""
        if not suffix:
            return self._of
        return self.slice(0, -len(suffix)).where(self.endswith(suffix), self._of)

    def count(self, pattern: str) -> Expression:
        """Count the occurrences of a regular expression (RE2's syntax)."""
        return self._of.call("text_count", pattern)

    def find(self, sub: str) -> Expression:
        """Give the place of the first `sub` in the text, -1 where there is none."""
        # What is from it on is cut off, and the rest counted: in characters.
        before = self.replace(f"(?s){re.escape(sub)}.*", "", regex=True)
        there = self.contains(sub, regex=False)
        return before.str.len().where(there | self._of.isna(), -1)

    def rfind(self, sub: str) -> Expression:
        """Give the place of the last `sub` in the text, -1 where there is none."""
        before = self.replace(f"(?s)(.*){re.escape(sub)}.*", r"\1", regex=True)
        there = self.contains(sub, regex=False)
        return before.str.len().where(there | self._of.isna(), -1)

    def startswith(self, prefix: str | tuple[str, ...], na: Any = None) -> Expression:
        """Tell whether the text starts with `prefix`, or one of several.

        Parameters
        ----------
        prefix : str or tuple of str
            What to look for.
        na : bool, optional
            What to give for a missing text; by default as in pandas.
        """
        return self._filled(self._match_any("starts_with", prefix), na)

    def endswith(self, suffix: str | tuple[str, ...], na: Any = None) -> Expression:
        """Tell whether the text ends with `suffix`, or one of several."""
        return self._filled(self._match_any("ends_with", suffix), na)

    def contains(
        self,
        pattern: str,
        case: bool = True,  # noqa: FBT001 - as pandas
        flags: int = 0,
        na: Any = None,
        regex: bool = True,  # noqa: FBT001
    ) -> Expression:
        """Tell whether `pattern` occurs in the text.

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

    match = _anchored("", "Tell whether the text starts with a regular expression.")
    fullmatch = _anchored(
        r"\z", "Tell whether a regular expression is all of the text."
    )

    def split(self, pat: str, *, n: int = -1, regex: bool | None = None) -> SplitText:
        """Split the text at each `pat`; ``.str[i]`` of the result is one of the parts.

        Parameters
        ----------
        pat : str
            What is between the parts, as plain text.
        n : int, default -1
            At how many to split, from the start; at all by default.
        regex : bool, optional
            Whether `pat` is a regular expression, which is not known: False says that
            more than one character with a meaning in patterns is plain text.

        Returns
        -------
        Expression
            Lists; ``.str[i]``, ``.str.get(i)`` and ``.str.len()`` work on them.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a-b-c", "d"]}))
        >>> list(shards.with_column("s", xs.col("s").str.split("-")).to_pandas()["s"])
        [['a', 'b', 'c'], ['d']]
        """
        if regex is None:  # as pandas sees it
            regex = len(pat) > 1 and not _SPECIAL.isdisjoint(pat)
        if regex:
            msg = f"split knows plain text alone (regex=False), got the pattern {pat!r}"
            raise XShardsNotImplementedError(msg)
        return self._split(pat, n, from_end=False)

    def rsplit(self, pat: str, *, n: int = -1) -> SplitText:
        """Split the text at each `pat`, counting `n` from the end; see `split`."""
        return self._split(pat, n, from_end=True)

    def extract(self, pat: str, flags: int = 0, *, expand: bool = False) -> Expression:
        """Give what the group of a regular expression (RE2's syntax) matches first.

        Parameters
        ----------
        pat : str
            A pattern with one group, as ``r"([0-9]+) km"``.
        flags : int, default 0
            Of the module `re`: IGNORECASE, MULTILINE and DOTALL.
        expand : bool, default False
            Only one column is known, not a DataFrame.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["12 km", "far"]}))
        >>> far = xs.col("s").str.extract("([0-9]+) km").isna()
        >>> list(shards.filter(far).to_pandas()["s"])
        ['far']
        """
        from xshards.expressions.split_text import (
            extract_text,  # which needs this module
        )

        if expand:
            msg = "extract gives one column: give expand=False"
            raise XShardsNotImplementedError(msg)
        return extract_text(self._of, _with_flags(pat, flags))

    def cat(
        self, others: Expression | list[Expression], sep: str = "", na_rep: Any = None
    ) -> Expression:
        """Join the texts of columns.

        Parameters
        ----------
        others : Expression or list of Expression
            What to add behind.
        sep : str, default ""
            What to put between.
        na_rep : str, optional
            What a missing text counts as; by default all is missing where one is.
        """
        texts = [self._of, *(others if isinstance(others, list) else [others])]
        if na_rep is not None:
            texts = [text.fillna(na_rep) for text in texts]
        return reduce(lambda left, right: left + sep + right, texts)

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
        """
        # Arrow would look for an empty text without end.
        if not regex and (not case or _ignores_case(flags) or pattern == ""):
            pattern, replacement = re.escape(pattern), replacement.replace("\\", r"\\")
            regex = True
        if regex:
            pattern = _with_flags(pattern, flags if case else flags | re.IGNORECASE)
        if regex and n > 1 and _matches_nothing(pattern):
            msg = (
                f"replace has no n > 1 for a pattern that matches no text: {pattern!r}"
            )
            raise XShardsNotImplementedError(msg)
        function = "replace_substring_regex" if regex else "replace_substring"
        count = -1 if n == 0 else n
        return type(self._of)(
            _core.Expression.replace(
                function, self._of._core, pattern, replacement, count
            )
        )

    def __getitem__(self, key: int | builtins.slice) -> Expression:
        """Give a character, or cut out some: ``xs.col("s").str[:3]``."""
        if isinstance(key, builtins.slice):
            return self.slice(key.start, key.stop, key.step)
        return self.get(key)

    def _filled(self, found: Expression, na: Any) -> Expression:
        return found if na is None else found.where(self._of.notna(), na)

    def _match_any(self, function: str, texts: str | tuple[str, ...]) -> Expression:
        if isinstance(texts, str):
            return self._match(function, texts, ignore_case=False)
        if not isinstance(texts, tuple) or not texts:
            msg = f"expected a text, or a tuple of some, got {texts!r}"
            raise XShardsTypeError(msg)
        found = [self._match(function, text, ignore_case=False) for text in texts]
        return reduce(operator.or_, found)

    def _match(self, function: str, pattern: str, *, ignore_case: bool) -> Expression:
        return type(self._of)(
            _core.Expression.match(function, self._of._core, pattern, ignore_case)
        )

    def _split(self, pat: str, n: int, *, from_end: bool) -> SplitText:
        from xshards.expressions.split_text import SplitText  # which needs this module

        if not pat:
            msg = f"split needs a text to split at, got {pat!r}"
            raise XShardsValueError(msg)
        return SplitText(self._of, pat, n if n > 0 else -1, from_end=from_end)

    def _strip(self, side: str, characters: str | None) -> Expression:
        options = [side] if characters is None else [side, characters]
        return self._of.call("text_strip", *options)


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
    """Tell whether a pattern matches between characters, where Arrow stays for n."""
    try:
        found = [re.search(pattern, text) for text in ("", "a a")]
    except re.error:  # what RE2 alone knows
        return False
    return any(match is not None and match[0] == "" for match in found)


def _ignores_case(flags: int) -> bool:
    return bool(flags & re.IGNORECASE)
