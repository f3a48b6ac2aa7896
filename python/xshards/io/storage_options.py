# SPDX-License-Identifier: Apache-2.0
"""Where remote files are, and who asks for them: ``storage_options`` as in pandas."""

from __future__ import annotations

import contextlib
import os
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from xshards import _core
from xshards.errors import (
    XShardsError,
    XShardsUnicodeDecodeError,
    XShardsValueError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "as_file",
    "is_hidden",
    "located",
    "named",
    "opened",
    "read_by_engine",
    "remote_files",
    "shown",
]

# Our name of an option, by the names that s3fs (pandas), Polars and Arrow have for it.
_S3_NAMES = {
    "key": "key",
    "aws_access_key_id": "key",
    "access_key": "key",
    "secret": "secret",
    "aws_secret_access_key": "secret",
    "secret_key": "secret",
    "endpoint_url": "endpoint",
    "aws_endpoint_url": "endpoint",
    "endpoint_override": "endpoint",
    "region": "region",
    "region_name": "region",
    "aws_region": "region",
    "scheme": "scheme",
}
_ARROW_SCHEMES = (
    "s3://",
    "gs://",
    "hdfs://",
)  # pandas supports others, such as http://
_COMPRESSIONS = {
    ".gz": "gzip",
    ".bz2": "bz2",
    ".zst": "zstd",
    ".xz": "xz",
    ".zip": "zip",
    ".tar": "tar",
}


def located(paths: Sequence[str], options: Mapping[str, Any] | None) -> list[str]:
    """Put options into the URIs of remote files.

    XShardsValueError for one whose password has an unquoted slash: any library would
    take the rest for a path, and show it.
    """
    for path in paths:
        _core.check_secrets_quoted(path)
    if not options:
        return list(paths)
    for path in paths:
        if not path.startswith("s3://"):
            msg = f"storage_options are for s3:// paths, got {shown(path)!r}"
            raise XShardsValueError(msg)
    given = _s3_options(options)
    if ("key" in given) != ("secret" in given):
        msg = "storage_options must have both key and secret, or neither"
        raise XShardsValueError(msg)
    query = {}
    endpoint = given.get("endpoint", "")
    if endpoint:
        scheme, separator, host = endpoint.rpartition("://")
        query["endpoint_override"] = host.rstrip("/")
        if separator:
            query["scheme"] = scheme
    query |= {name: given[name] for name in ("region", "scheme") if name in given}
    return [_with_options(path, given, query) for path in paths]


def _s3_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options under our names; refuse those that we cannot follow."""
    options = dict(options)
    nested = options.pop("client_kwargs", {})  # where s3fs nests some of them
    found = {}
    for name, value in {**options, **nested}.items():
        known = _S3_NAMES.get(name)
        if known is None:
            msg = (
                f"storage_options of s3:// can be {', '.join(_S3_NAMES)}, got "
                f"{name!r}; session tokens, profiles and the like are taken from "
                "AWS_SESSION_TOKEN, AWS_PROFILE and the environment's other variables"
            )
            raise XShardsValueError(msg)
        if value is not None:
            found[known] = str(value)
    return found


def _with_options(path: str, given: dict[str, str], query: dict[str, str]) -> str:
    rest, _, own_query = path.removeprefix("s3://").partition("?")
    if "key" in given:
        rest = rest.rpartition("@")[2] if "@" in rest.partition("/")[0] else rest
        rest = (
            f"{quote(given['key'], safe='')}:{quote(given['secret'], safe='')}@{rest}"
        )
    asked = "&".join(part for part in (own_query, urlencode(query)) if part)
    return f"s3://{rest}?{asked}" if asked else f"s3://{rest}"


def is_hidden(parts: Sequence[str]) -> bool:
    """Return whether a file, or its folder, is skipped; ``_k=1`` is a value of _k."""
    return any(part.startswith((".", "_")) for part in parts[-1:]) or any(
        part.startswith(".") or (part.startswith("_") and "=" not in part)
        for part in parts[:-1]
    )


def shown(path: str) -> str:
    """Return a path for people to read, without its credentials."""
    return _core.without_secrets(path)


def _file_system(path: str) -> tuple[Any, str]:
    """Return Arrow's file system of a URI, and the path in it."""
    from pyarrow import fs  # loads the libraries of all clouds

    try:
        system, inside = fs.FileSystem.from_uri(path)
        return system, str(inside)
    except (OSError, ValueError, NotImplementedError) as error:
        reason = shown(str(error).replace(path, shown(path)))
    # Not in the handler: the error there, which shows the whole path, would be kept.
    msg = f"Could not find a file system for {shown(path)!r}: {reason}"
    raise XShardsValueError(msg)


def remote_files(path: str) -> list[str]:
    """Return the files of a remote folder, or a file itself."""
    if not path.startswith(_ARROW_SCHEMES):
        return [path]
    from pyarrow import fs  # loads the libraries of all clouds

    system, inside = _file_system(path)
    if system.get_file_info(inside).type != fs.FileType.Directory:
        return [path]
    head, separator, query = path.partition("?")
    listed = system.get_file_info(fs.FileSelector(inside, recursive=True))
    below = [
        info.path.removeprefix(inside).strip("/") for info in listed if info.is_file
    ]
    return [
        f"{head.rstrip('/')}/{quote(name)}{separator}{query}"
        for name in sorted(below)
        if not is_hidden(name.split("/"))
    ]


@contextlib.contextmanager
def opened(path: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Return what pandas reads a file from, and what it would infer from the path."""
    if not path.startswith(_ARROW_SCHEMES):
        yield path, {}
        return
    system, inside = _file_system(path)
    name = urlsplit(path).path
    ending = next(
        (kind for end, kind in _COMPRESSIONS.items() if name.endswith(end)), ""
    )
    with system.open_input_file(inside) as file:
        yield file, {"compression": ending} if ending else {}


def read_by_engine(path: str) -> bool:
    """Tell whether the engine can open a path; pandas knows other kinds of URI, too."""
    return "://" not in path or path.startswith((*_ARROW_SCHEMES, "file://"))


#: The path of a file in memory that is being read, and what people know it by.
_in_memory: ContextVar[tuple[str, str] | None] = ContextVar("_in_memory", default=None)


def named(text: str) -> str:
    """Give a text about a file in memory the name that people know."""
    known = _in_memory.get()
    if known is None:
        return text
    path, name = known
    return text.replace(f"'{path}'", f"'{name}'")


def _name_of(content: bytes | Any) -> str:
    """Name what is read: as an open file does, or by its type."""
    name = getattr(content, "name", None)
    return name if isinstance(name, str) else f"<{type(content).__name__}>"


@contextlib.contextmanager
def as_file(content: bytes | Any) -> Iterator[str]:
    """Return the path of a file in memory with what bytes, or a file object, hold.

    Errors that are raised meanwhile have the name of what was read.
    """
    descriptor = os.memfd_create("xshards")
    path = f"/proc/self/fd/{descriptor}"
    token = _in_memory.set((path, _name_of(content)))
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                while piece := content.read(1 << 20):
                    file.write(piece.encode() if isinstance(piece, str) else piece)
        yield path
    except XShardsError as error:
        error.args = tuple(
            named(arg) if isinstance(arg, str) else arg for arg in error.args
        )
        if isinstance(error, XShardsUnicodeDecodeError):
            error.message = named(error.message)
        raise
    finally:
        _in_memory.reset(token)
        os.close(descriptor)
