# SPDX-License-Identifier: Apache-2.0
"""What Orca users catch, and what is not there yet."""

from __future__ import annotations

from xshards.errors import XShardsRuntimeError, XShardsTypeError, XShardsValueError

__all__ = ["OrcaInputError", "OrcaTypeError"]


class OrcaInputError(XShardsRuntimeError, XShardsValueError):
    """An argument is not what was expected.

    Orca raises RuntimeError for every such mistake; this is one, and a ValueError.
    """


class OrcaTypeError(OrcaInputError, XShardsTypeError):
    """An operation does not apply to what these shards hold."""
