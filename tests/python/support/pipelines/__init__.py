# SPDX-License-Identifier: Apache-2.0
"""Random programs on random frames, run by XShards, pandas and DuckDB."""
