# SPDX-License-Identifier: Apache-2.0
"""From shards to trained models. Importing this loads no framework."""
