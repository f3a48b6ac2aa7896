# SPDX-License-Identifier: Apache-2.0
"""Encoding and scaling of columns; fitting takes one native pass over the data.

Each transformer learns from shards with ``fit``, applies what it learnt with
``transform``, or both with ``fit_transform``. ``to_dict`` and ``from_dict`` carry what
was learnt elsewhere.
"""

from xshards.transformer.scalers import MinMaxScaler, StandardScaler
from xshards.transformer.string_indexer import StringIndex, StringIndexer

__all__ = ["MinMaxScaler", "StandardScaler", "StringIndex", "StringIndexer"]
