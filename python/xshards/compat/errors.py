# SPDX-License-Identifier: Apache-2.0
"""Errors that Orca users catch, and the one for features not implemented yet."""

from __future__ import annotations

from xshards.errors import XShardsRuntimeError, XShardsTypeError, XShardsValueError

__all__ = ["OrcaAssertionError", "OrcaInputError", "OrcaTypeError"]


class OrcaInputError(XShardsRuntimeError, XShardsValueError):
    """An argument is not what was expected.

    Orca raises RuntimeError for every such mistake; this is one, and a ValueError.
    """


class OrcaTypeError(OrcaInputError, XShardsTypeError):
    """An operation does not apply to what these shards hold."""


class OrcaAssertionError(OrcaInputError, AssertionError):
    """What Analytics Zoo asserts and BigDL raises as a RuntimeError."""
