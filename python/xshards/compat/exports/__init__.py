# SPDX-License-Identifier: Apache-2.0
"""What each Orca and Analytics Zoo module path exports."""
