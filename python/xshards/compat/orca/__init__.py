# SPDX-License-Identifier: Apache-2.0
"""Orca's contexts, readers, shards and Estimators on this engine."""
