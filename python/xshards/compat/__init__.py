# SPDX-License-Identifier: Apache-2.0
"""Orca scripts as they are: ``zoo.orca`` and ``bigdl.orca`` without Spark.

``python -m xshards.compat script.py`` runs a script; `install` does the same for the
session it is called in::

    import xshards.compat
    xshards.compat.install()
    from bigdl.orca import init_orca_context

Modules whose content comes later import too; using something from them says so.
"""

from __future__ import annotations

from xshards.compat.finder import install, is_installed, uninstall

__all__ = ["install", "is_installed", "uninstall"]
