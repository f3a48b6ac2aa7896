# SPDX-License-Identifier: Apache-2.0
"""read_csv and what it needs."""
