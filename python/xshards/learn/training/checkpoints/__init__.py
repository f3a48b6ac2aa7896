# SPDX-License-Identifier: Apache-2.0
"""What training leaves in files: checkpoints, and whole models."""
