# SPDX-License-Identifier: Apache-2.0
"""Which Keras ``tf.keras`` is: Orca's scripts are written for Keras 2."""

from __future__ import annotations

import logging
import os
import sys

__all__ = ["leave_keras_alone", "select_legacy_keras"]

_VARIABLE = "TF_USE_LEGACY_KERAS"
_selected = False


def select_legacy_keras() -> None:
    """Have TensorFlow, when it is first imported, take tf_keras for its Keras."""
    global _selected
    if _VARIABLE in os.environ:
        return
    if "tensorflow" in sys.modules:
        logging.getLogger(__name__).warning(
            "TensorFlow was imported before xshards.compat, so tf.keras may be Keras "
            "3, which Orca's scripts were not written for; set %s=1 before",
            _VARIABLE,
        )
        return
    os.environ[_VARIABLE] = "1"
    _selected = True
    logging.getLogger(__name__).info("tf.keras is Keras 2: %s=1 is set", _VARIABLE)


def leave_keras_alone() -> None:
    """Undo `select_legacy_keras`, where TensorFlow has not been imported since."""
    global _selected
    if _selected and "tensorflow" not in sys.modules:
        os.environ.pop(_VARIABLE, None)
    _selected = False
