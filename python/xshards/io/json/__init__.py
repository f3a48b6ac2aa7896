# SPDX-License-Identifier: Apache-2.0
"""read_json and what it needs."""
