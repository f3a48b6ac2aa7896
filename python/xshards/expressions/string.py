# SPDX-License-Identifier: Apache-2.0
"""String functions of expressions, with pandas' names."""

from __future__ import annotations

import builtins
from functools import reduce
from typing import TYPE_CHECKING, Any

from xshards.errors import (
    XShardsNotImplementedError,
    XShardsValueError,
)
from xshards.expressions.string_characters import CharacterMethods
from xshards.expressions.string_patterns import PatternMethods

if TYPE_CHECKING:
    from xshards.expressions.expression import Expression
    from xshards.expressions.split_text import SplitText

__all__ = ["StringMethods"]

_NO_END = 2**63 - 1
#: Special characters of regular expressions.
_SPECIAL = frozenset(r"\^$.|?*+()[]{}")


class StringMethods(CharacterMethods, PatternMethods):
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

    __slots__ = ()

    def slice(
        self, start: int | None = None, stop: int | None = None, step: int | None = None
    ) -> Expression:
        """Cut out characters, as ``text[start:stop:step]`` does.

        Parameters
        ----------
        start, stop : int, optional
            Positions, from the end where they are negative.
        step : int, optional
            Take every `step`-th character; it must be positive.

        Returns
        -------
        Expression

        Raises
        ------
        ValueError
            If `step` is not positive.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["abcd"]}))
        >>> shards.assign(s=xs.col("s").str.slice(1, 3)).to_pandas()["s"].tolist()
        ['bc']
        """
        step = 1 if step is None else step
        if step < 1:
            msg = f"step must be positive, got {step}"
            raise XShardsValueError(msg)
        end = _NO_END if stop is None else stop
        return self._of.call("text_slice", start or 0, end, step)

    def slice_replace(
        self, start: int | None = None, stop: int | None = None, repl: str = ""
    ) -> Expression:
        """Replace ``text[start:stop]`` by other text.

        Parameters
        ----------
        start, stop : int, optional
            Positions, from the end where they are negative.
        repl : str
            The text to put there.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["abcd"]}))
        >>> found = xs.col("s").str.slice_replace(1, 3, "-")
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        ['a-d']
        """
        end = _NO_END if stop is None else stop
        return self._of.call("text_replace_slice", start or 0, end, repl)

    def get(self, i: int) -> Expression:
        """Return the i-th character; missing where the text is shorter.

        Parameters
        ----------
        i : int
            The position, from the end if it is negative.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["abc"]}))
        >>> shards.assign(s=xs.col("s").str.get(-1)).to_pandas()["s"].tolist()
        ['c']
        """
        one = self.slice(i, None if i == -1 else i + 1)
        return one.where(one != "")

    def removeprefix(self, prefix: str) -> Expression:
        """Remove `prefix` where the text starts with it.

        Parameters
        ----------
        prefix : str
            What to remove.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["id-7", "7"]}))
        >>> found = xs.col("s").str.removeprefix("id-")
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        ['7', '7']
        """
        return self.slice(len(prefix)).where(self.startswith(prefix), self._of)

    def removesuffix(self, suffix: str) -> Expression:
        """Remove `suffix` where the text ends with it.

        Parameters
        ----------
        suffix : str
            What to remove.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a.csv", "b"]}))
        >>> found = xs.col("s").str.removesuffix(".csv")
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        ['a', 'b']
        """
        if not suffix:
            return self._of
        return self.slice(0, -len(suffix)).where(self.endswith(suffix), self._of)

    def split(self, pat: str, *, n: int = -1, regex: bool | None = None) -> SplitText:
        """Split the text at each `pat`; ``.str[i]`` of the result is one of the parts.

        Parameters
        ----------
        pat : str
            What is between the parts, as plain text.
        n : int, default -1
            The maximal number of splits, from the start; all by default.
        regex : bool, optional
            Whether `pat` is a regular expression, which is not known: False says that
            more than one character with a meaning in patterns is plain text.

        Returns
        -------
        Expression
            Lists; ``.str[i]``, ``.str.get(i)`` and ``.str.len()`` work on them.

        Raises
        ------
        NotImplementedError
            If `pat` is a regular expression.
        ValueError
            If `pat` is empty.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a-b-c", "d"]}))
        >>> list(shards.with_column("s", xs.col("s").str.split("-")).to_pandas()["s"])
        [['a', 'b', 'c'], ['d']]
        """
        if regex is None:  # as pandas interprets it
            regex = len(pat) > 1 and not _SPECIAL.isdisjoint(pat)
        if regex:
            msg = (
                f"split supports plain text only (regex=False), got the pattern {pat!r}"
            )
            raise XShardsNotImplementedError(msg)
        return self._split(pat, n, from_end=False)

    def rsplit(self, pat: str, *, n: int = -1) -> SplitText:
        """Split the text at each `pat`, counting `n` from the end; see `split`.

        Parameters
        ----------
        pat, n
            See `split`.

        Returns
        -------
        Expression
            Lists, as `split` gives them.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a-b-c"]}))
        >>> shards.assign(s=xs.col("s").str.rsplit("-", n=1)).to_pandas()["s"].tolist()
        [['a-b', 'c']]
        """
        return self._split(pat, n, from_end=True)

    def cat(
        self, others: Expression | list[Expression], sep: str = "", na_rep: Any = None
    ) -> Expression:
        """Join the texts of columns.

        Parameters
        ----------
        others : Expression or list of Expression
            What to append.
        sep : str, default ""
            What to put between.
        na_rep : str, optional
            What a missing text counts as; by default the result is missing where
            one is.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": ["x", "y"], "b": ["1", None]}))
        >>> joined = xs.col("a").str.cat(xs.col("b"), sep="-", na_rep="?")
        >>> shards.with_column("c", joined).to_pandas()["c"].tolist()
        ['x-1', 'y-?']
        """
        texts = [self._of, *(others if isinstance(others, list) else [others])]
        if na_rep is not None:
            texts = [text.fillna(na_rep) for text in texts]
        return reduce(lambda left, right: left + sep + right, texts)

    def __getitem__(self, key: int | builtins.slice) -> Expression:
        """Return a character, or cut out some: ``xs.col("s").str[:3]``."""
        if isinstance(key, builtins.slice):
            return self.slice(key.start, key.stop, key.step)
        return self.get(key)

    def _split(self, pat: str, n: int, *, from_end: bool) -> SplitText:
        from xshards.expressions.split_text import SplitText  # avoids a circular import

        if not pat:
            msg = f"split needs a text to split at, got {pat!r}"
            raise XShardsValueError(msg)
        return SplitText(self._of, pat, n if n > 0 else -1, from_end=from_end)
