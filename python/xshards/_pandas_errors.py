# SPDX-License-Identifier: Apache-2.0
"""Errors of CSV that are pandas', too. Apart from the others, as this loads pandas."""

from __future__ import annotations

import pandas as pd

from xshards.errors import XShardsValueError

__all__ = ["XShardsEmptyDataError", "XShardsParserError"]


class XShardsParserError(XShardsValueError, pd.errors.ParserError):
    """Lines of a CSV file are no records."""

    __module__ = "xshards.errors"


class XShardsEmptyDataError(XShardsValueError, pd.errors.EmptyDataError):
    """A CSV file has no columns."""

    __module__ = "xshards.errors"
