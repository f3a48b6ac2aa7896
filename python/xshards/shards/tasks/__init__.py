# SPDX-License-Identifier: Apache-2.0
"""Functions that run on partitions in worker processes."""
