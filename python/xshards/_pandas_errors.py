# SPDX-License-Identifier: Apache-2.0
"""CSV errors that are also pandas errors. A separate module: it imports pandas."""

from __future__ import annotations

import pandas as pd

from xshards.errors import XShardsValueError

__all__ = ["XShardsEmptyDataError", "XShardsParserError"]


class XShardsParserError(XShardsValueError, pd.errors.ParserError):
    """Lines of a CSV file are malformed."""

    __module__ = "xshards.errors"


class XShardsEmptyDataError(XShardsValueError, pd.errors.EmptyDataError):
    """A CSV file has no columns."""

    __module__ = "xshards.errors"
