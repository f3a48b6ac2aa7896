# SPDX-License-Identifier: Apache-2.0
"""Computations on Arrow tables and pandas frames that run in this process."""
