# SPDX-License-Identifier: Apache-2.0
"""Columns encoded and scaled: what is learnt takes one pass, natively.

Each transformer learns from shards with ``fit``, applies what it learnt with
``transform``, or both with ``fit_transform``. ``to_dict`` and ``from_dict`` carry what
was learnt elsewhere.
"""

from xshards.transformer.scalers import MinMaxScaler, StandardScaler
from xshards.transformer.string_indexer import StringIndex, StringIndexer

__all__ = ["MinMaxScaler", "StandardScaler", "StringIndex", "StringIndexer"]
