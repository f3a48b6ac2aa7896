# SPDX-License-Identifier: Apache-2.0
"""Callbacks of a training run, for every framework."""
