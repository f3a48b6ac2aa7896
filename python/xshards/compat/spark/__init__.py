# SPDX-License-Identifier: Apache-2.0
"""The part of Spark's RDD interface that Orca scripts use."""
