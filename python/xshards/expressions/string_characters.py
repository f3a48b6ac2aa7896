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


def _strip(name: str, side: str, where: str, text: str) -> Callable[..., Expression]:
    """Make the method that removes characters from one end, or both."""

    def method(self: CharacterMethods, characters: str | None = None) -> Expression:
        options = [side] if characters is None else [side, characters]
        return self._of.call("text_strip", *options)

    method.__doc__ = f"""Remove white space, or these characters, from {where}.

        Parameters
        ----------
        characters : str, optional
            The characters to remove; white space by default.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({{"s": ["{text}"]}}))
        >>> shards.assign(s=xs.col("s").str.{name}("x")).to_pandas()["s"].tolist()
        ['a']
        """
    return method


def _justify(
    name: str, side: Literal["left", "right", "both"], doc: str, result: str
) -> Callable[..., Expression]:
    """Make the method that pads on one side, or both."""

    def method(self: CharacterMethods, width: int, fillchar: str = " ") -> Expression:
        return self.pad(width, side, fillchar)

    method.__doc__ = f"""{doc}

        Parameters
        ----------
        width, fillchar
            See `pad`.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({{"s": ["a"]}}))
        >>> shards.assign(s=xs.col("s").str.{name}(3, ".")).to_pandas()["s"].tolist()
        [{result!r}]
        """
    return method


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

    strip = _strip("strip", "trim", "both ends", "xxax")
    lstrip = _strip("lstrip", "ltrim", "the start", "xxa")
    rstrip = _strip("rstrip", "rtrim", "the end", "axx")

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

    ljust = _justify("ljust", "right", "Pad on the right.", "a..")
    rjust = _justify("rjust", "left", "Pad on the left.", "..a")
    center = _justify("center", "both", "Pad on both sides.", ".a.")

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
