# SPDX-License-Identifier: Apache-2.0
"""Training PyTorch models on shards."""
