# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's version 1 interface, or what to do to get it."""

from __future__ import annotations

from typing import Any

__all__ = ["tf"]

_PIP = "pip install tensorflow-cpu && pip install --no-deps tf_keras tf-slim"


def _load() -> Any:
    try:
        import tensorflow.compat.v1 as loaded
    except ModuleNotFoundError as error:
        msg = f"TensorFlow is not installed; {_PIP}"
        raise ModuleNotFoundError(msg) from error
    return loaded


#: ``tensorflow.compat.v1``.
tf = _load()
