# SPDX-License-Identifier: Apache-2.0
"""String functions of single characters: case, kind, white space, padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from xshards.errors import (
    XShardsValueError,
)
from xshards.expressions.accessor import Accessor

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.expressions.expression import Expression

__all__ = ["CharacterMethods"]


def _method(
    name: str, function: str, doc: str, texts: list[str], results: list[Any]
) -> Callable[[CharacterMethods], Expression]:
    """Make the method of a function without arguments, with an example of it."""

    def method(self: CharacterMethods) -> Expression:
        return self._of.call(function)

    method.__doc__ = f"""{doc}

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({{"s": {texts}}}))
        >>> shards.assign(s=xs.col("s").str.{name}()).to_pandas()["s"].tolist()
        {results}
        """
    return method


def _case(
    kind: str, doc: str, text: str, result: str
) -> Callable[[CharacterMethods], Expression]:
    return _method(kind, f"utf8_{kind}", doc, [text], [result])


def _is(
    kind: str, doc: str, yes: str, no: str
) -> Callable[[CharacterMethods], Expression]:
    return _method(f"is{kind}", f"utf8_is_{kind}", doc, [yes, no], [True, False])


class CharacterMethods(Accessor):
    """Change case, test characters, strip and pad."""

    __slots__ = ()

    upper = _case("upper", "Convert to upper case.", "Ab", "AB")
    lower = _case("lower", "Convert to lower case.", "Ab", "ab")
    capitalize = _case(
        "capitalize", "Convert the first character to upper case.", "ab cd", "Ab cd"
    )
    title = _case(
        "title", "Convert the first character of words to upper case.", "ab cd", "Ab Cd"
    )
    swapcase = _case("swapcase", "Swap upper and lower case.", "Ab", "aB")
    len = _method("len", "utf8_length", "Count the characters.", ["ab", ""], [2, 0])
    isalnum = _is("alnum", "Tell whether all are letters or digits.", "a1", "a-1")
    isalpha = _is("alpha", "Tell whether all are letters.", "ab", "a1")
    isascii = _method(
        "isascii",
        "string_is_ascii",
        "Tell whether all are ASCII.",
        ["ab", "é"],
        [True, False],
    )
    isdecimal = _is("decimal", "Tell whether all are decimal characters.", "12", "1.2")
    isdigit = _is("digit", "Tell whether all are digits.", "12", "a1")
    islower = _is("lower", "Tell whether all letters are lower case.", "ab", "Ab")
    isnumeric = _is("numeric", "Tell whether all are numeric.", "12", "ab")
    isspace = _is("space", "Tell whether all are white space.", "  ", "a b")
    istitle = _is("title", "Tell whether words begin in upper case.", "Ab Cd", "ab")
    isupper = _is("upper", "Tell whether all letters are upper case.", "AB", "Ab")

    def strip(self, characters: str | None = None) -> Expression:
        """Remove white space, or these characters, from both ends.

        Parameters
        ----------
        characters : str, optional
            The characters to remove; white space by default.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": [" a ", "b"]}))
        >>> shards.assign(s=xs.col("s").str.strip()).to_pandas()["s"].tolist()
        ['a', 'b']
        """
        return self._strip("trim", characters)

    def lstrip(self, characters: str | None = None) -> Expression:
        """Remove white space, or these characters, from the start.

        Parameters
        ----------
        characters : str, optional
            The characters to remove; white space by default.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["xxa", "b"]}))
        >>> shards.assign(s=xs.col("s").str.lstrip("x")).to_pandas()["s"].tolist()
        ['a', 'b']
        """
        return self._strip("ltrim", characters)

    def rstrip(self, characters: str | None = None) -> Expression:
        """Remove white space, or these characters, from the end.

        Parameters
        ----------
        characters : str, optional
            The characters to remove; white space by default.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["axx", "b"]}))
        >>> shards.assign(s=xs.col("s").str.rstrip("x")).to_pandas()["s"].tolist()
        ['a', 'b']
        """
        return self._strip("rtrim", characters)

    def pad(
        self,
        width: int,
        side: Literal["left", "right", "both"] = "left",
        fillchar: str = " ",
    ) -> Expression:
        """Pad to `width` characters.

        Parameters
        ----------
        width : int
            The least number of characters.
        side : {"left", "right", "both"}
            Where to add them.
        fillchar : str
            The one character to add.

        Returns
        -------
        Expression

        Raises
        ------
        ValueError
            If `side` is unknown.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a"]}))
        >>> found = xs.col("s").str.pad(3, "both", "-")
        >>> shards.assign(s=found).to_pandas()["s"].tolist()
        ['-a-']
        """
        functions = {"left": "lpad", "right": "rpad", "both": "center"}
        if side not in functions:
            msg = f"side must be left, right or both, got {side!r}"
            raise XShardsValueError(msg)
        return self._of.call("text_pad", functions[side], width, fillchar)

    def ljust(self, width: int, fillchar: str = " ") -> Expression:
        """Pad on the right.

        Parameters
        ----------
        width, fillchar
            See `pad`.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a"]}))
        >>> shards.assign(s=xs.col("s").str.ljust(3, ".")).to_pandas()["s"].tolist()
        ['a..']
        """
        return self.pad(width, "right", fillchar)

    def rjust(self, width: int, fillchar: str = " ") -> Expression:
        """Pad on the left.

        Parameters
        ----------
        width, fillchar
            See `pad`.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a"]}))
        >>> shards.assign(s=xs.col("s").str.rjust(3, ".")).to_pandas()["s"].tolist()
        ['..a']
        """
        return self.pad(width, "left", fillchar)

    def center(self, width: int, fillchar: str = " ") -> Expression:
        """Pad on both sides.

        Parameters
        ----------
        width, fillchar
            See `pad`.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a"]}))
        >>> shards.assign(s=xs.col("s").str.center(3, ".")).to_pandas()["s"].tolist()
        ['.a.']
        """
        return self.pad(width, "both", fillchar)

    def zfill(self, width: int) -> Expression:
        """Pad with zeros on the left, after a sign.

        Parameters
        ----------
        width : int
            The least number of characters.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["7", "-7"]}))
        >>> shards.assign(s=xs.col("s").str.zfill(3)).to_pandas()["s"].tolist()
        ['007', '-07']
        """
        return self._of.call("text_zero_fill", width)

    def repeat(self, repeats: int) -> Expression:
        """Repeat the text.

        Parameters
        ----------
        repeats : int
            How often.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["ab"]}))
        >>> shards.assign(s=xs.col("s").str.repeat(2)).to_pandas()["s"].tolist()
        ['abab']
        """
        return self._of.call("binary_repeat", repeats)

    def _strip(self, side: str, characters: str | None) -> Expression:
        options = [side] if characters is None else [side, characters]
        return self._of.call("text_strip", *options)
