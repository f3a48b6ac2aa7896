# SPDX-License-Identifier: Apache-2.0
"""Which Keras ``tf.keras`` is: Orca's scripts are written for Keras 2."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import logging
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["leave_keras_alone", "select_legacy_keras"]

_VARIABLE = "TF_USE_LEGACY_KERAS"
_TENSORFLOW = "tensorflow"
_selected = False


class _Announcer(importlib.abc.MetaPathFinder):
    """Says which Keras there will be when TensorFlow is imported; finds nothing."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname == _TENSORFLOW:
            sys.meta_path.remove(self)
            logging.getLogger(__name__).warning(
                "tf.keras is Keras 2 (tf_keras) here, in workers and in replicas, for "
                "Orca's scripts are written for it; to have Keras 3 set %s=0",
                _VARIABLE,
            )
        return None


_announcer = _Announcer()


def select_legacy_keras() -> None:
    """Have TensorFlow, when it is first imported, take tf_keras for its Keras.

    It is said then, once; not in workers, which inherit the choice.
    """
    global _selected
    if _VARIABLE in os.environ:
        return
    if _TENSORFLOW in sys.modules:
        logging.getLogger(__name__).warning(
            "TensorFlow was imported before xshards.compat, so tf.keras may be Keras "
            "3, which Orca's scripts were not written for; set %s=1 before",
            _VARIABLE,
        )
        return
    os.environ[_VARIABLE] = "1"
    _selected = True
    sys.meta_path.insert(0, _announcer)


def leave_keras_alone() -> None:
    """Undo `select_legacy_keras`, where TensorFlow has not been imported since."""
    global _selected
    if _announcer in sys.meta_path:
        sys.meta_path.remove(_announcer)
    if _selected and _TENSORFLOW not in sys.modules:
        os.environ.pop(_VARIABLE, None)
    _selected = False
