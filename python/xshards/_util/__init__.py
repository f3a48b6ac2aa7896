# SPDX-License-Identifier: Apache-2.0
"""What every folder of the package uses: arguments, deferred imports, public names."""
