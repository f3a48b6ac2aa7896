# SPDX-License-Identifier: Apache-2.0
"""Exceptions: every class is an `XShardsError` and the matching builtin.

So ``except KeyError`` catches an unknown column, and ``except xs.XShardsError`` catches
whatever the engine reports. An exception raised inside your own function is none of
these: it reaches you as itself. What is wrong with CSV is also what pandas raises for
it: ``pandas.errors.ParserError`` and ``EmptyDataError``, and ``UnicodeDecodeError``.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xshards._pandas_errors import XShardsEmptyDataError, XShardsParserError

__all__ = [
    "XShardsCancelledError",
    "XShardsEmptyDataError",
    "XShardsError",
    "XShardsFileExistsError",
    "XShardsFileNotFoundError",
    "XShardsIndexError",
    "XShardsKeyError",
    "XShardsMemoryError",
    "XShardsNotImplementedError",
    "XShardsOSError",
    "XShardsOverflowError",
    "XShardsParserError",
    "XShardsPermissionError",
    "XShardsRuntimeError",
    "XShardsTypeError",
    "XShardsTypeMismatchError",
    "XShardsUnicodeDecodeError",
    "XShardsValueError",
    "XShardsWorkerError",
]


class XShardsError(Exception):
    """The base of every error that XShards raises."""


class XShardsValueError(XShardsError, ValueError):
    """An argument, a file's content or an option is not what was expected."""


class XShardsUnicodeDecodeError(XShardsValueError, UnicodeDecodeError):
    """Bytes of a text are not valid in its encoding."""

    def __init__(self, message: str, encoding: str, content: bytes) -> None:
        try:
            content.decode(encoding)
        except UnicodeDecodeError as error:
            why = (error.start, error.end, error.reason)
        else:
            why = (0, len(content), "no character")
        super().__init__(encoding, content, *why)
        self.message = message

    def __str__(self) -> str:
        """Return the message, which names the file."""
        return self.message

    def __reduce__(self) -> tuple[type, tuple[str, str, bytes]]:
        """Pickle what the constructor takes."""
        return type(self), (self.message, self.encoding, self.object)


class XShardsTypeMismatchError(XShardsValueError):
    """A value of a text file does not fit the type that samples suggested.

    The engine then looks at all values and runs again, so this is seen only on the way
    from a worker process.
    """

    def __init__(
        self, message: str, place: tuple[bytes, bytes, bytes, int, int]
    ) -> None:
        super().__init__(message)
        #: The value, its column, its file, and where in this it is.
        self.place = place

    def __reduce__(self) -> tuple[type, tuple[str, tuple[object, ...]]]:
        """Pickle what the constructor takes."""
        return type(self), (str(self), self.place)


class XShardsKeyError(XShardsError, KeyError):
    """A column, or another thing looked up by name, is not there."""

    # KeyError shows the repr of its argument; the message should not be quoted.
    __str__ = builtins.Exception.__str__


class XShardsTypeError(XShardsError, TypeError):
    """An operation does not apply to this type."""


class XShardsOverflowError(XShardsError, OverflowError):
    """A number is too large for the type it is asked to be of."""


class XShardsIndexError(XShardsError, IndexError):
    """A position is out of range."""


class XShardsOSError(XShardsError, OSError):
    """A file could not be read or written."""


class XShardsFileNotFoundError(XShardsOSError, FileNotFoundError):
    """A file or directory does not exist."""


class XShardsFileExistsError(XShardsOSError, FileExistsError):
    """A file exists already."""


class XShardsPermissionError(XShardsOSError, PermissionError):
    """The operating system does not allow it."""


class XShardsMemoryError(XShardsError, MemoryError):
    """The memory budget is too small for this."""


class XShardsNotImplementedError(XShardsError, NotImplementedError):
    """There is no such operation."""


class XShardsRuntimeError(XShardsError, RuntimeError):
    """An internal failure, not caused by the caller."""


class XShardsCancelledError(XShardsRuntimeError):
    """The action was stopped before it ended."""


class XShardsWorkerError(XShardsRuntimeError):
    """A worker process died, or could not send what it had to."""


def __getattr__(name: str) -> type[XShardsError]:
    """Load the classes that are pandas', too, when they are asked for."""
    if name not in ("XShardsEmptyDataError", "XShardsParserError"):
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from xshards import _pandas_errors

    found: type[XShardsError] = getattr(_pandas_errors, name)
    return found
