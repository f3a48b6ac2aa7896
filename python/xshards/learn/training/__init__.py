# SPDX-License-Identifier: Apache-2.0
"""The training core: what every framework's Estimator shares."""
