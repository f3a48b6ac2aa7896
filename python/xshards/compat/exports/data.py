# SPDX-License-Identifier: Apache-2.0
"""What ``orca.data`` exports."""

from __future__ import annotations

from xshards.compat.later import Later
from xshards.compat.orca.spark_xshards import SparkXShards, XShards
from xshards.shared_value import SharedValue

__all__ = ["SharedValue", "SparkXShards", "XShards", "read_images"]

read_images = Later("read_images", "bigdl.orca.data", "images")
