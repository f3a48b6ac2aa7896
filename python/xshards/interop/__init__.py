# SPDX-License-Identifier: Apache-2.0
"""Conversion between pandas, numpy and Arrow values and dtypes."""
