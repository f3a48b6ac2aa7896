# SPDX-License-Identifier: Apache-2.0
"""Scalars of a training run, in TensorBoard event files."""
