# SPDX-License-Identifier: Apache-2.0
"""Variables of Keras models, and the memory that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsTypeError
from xshards.learn.tf.packages import load_tensorflow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.training.driver_optimizer import Spec

__all__ = ["Weight", "address_of", "name_of", "show", "specs_of"]

# TensorFlow computes on memory that begins at such addresses only.
_ALIGNMENT = 64


class Weight:
    """A trainable variable, which replicas find in the parameter server's region.

    Pickled, it is its values: what has a place in the region is left out before that.
    """

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the variable."""
        return tuple(self.variable.shape)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy of the values."""
        return np.array(self.variable.numpy())

    def __reduce__(self) -> tuple[Any, ...]:
        return _values, (self.numpy(),)


def _values(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values


def show(variable: Any, values: np.ndarray[Any, Any]) -> bool:
    """Make a variable a view of an array; False if it had to be a copy.

    TensorFlow takes the array's memory for the variable's: what is written to the array
    later is what the variable has. It never writes there itself, for it does not own
    the memory alone, and changes a copy instead.
    """
    tensorflow = load_tensorflow()
    values = values.reshape(tuple(variable.shape))
    if not _can_be_shown(values):
        variable.assign(values)
        return False
    _keep_whole(tensorflow, variable)
    tensor = tensorflow.experimental.dlpack.from_dlpack(values.__dlpack__())
    variable.assign(tensor)
    return bool(address_of(variable) == values.__array_interface__["data"][0])


def _keep_whole(tensorflow: Any, variable: Any) -> None:
    """Have TensorFlow keep the memory that a variable is given.

    A variable whose rows were read or changed one by one copies what it is given; and
    reading rows of one makes a copy. So rows are taken of the whole variable.
    """
    own = isinstance(variable, tensorflow.Variable)
    resource = variable if own else variable.value
    tensorflow.raw_ops.DisableCopyOnRead(resource=resource.handle)
    if own:  # of legacy Keras; Keras 3 reads whole variables
        resource.sparse_read = lambda indices, name=None: tensorflow.gather(
            tensorflow.convert_to_tensor(resource), indices, name=name
        )


def _can_be_shown(values: np.ndarray[Any, Any]) -> bool:
    address = values.__array_interface__["data"][0]
    flags = values.flags
    return (
        values.size > 0
        and flags.writeable
        and flags.c_contiguous
        and address % _ALIGNMENT == 0
    )


def address_of(variable: Any) -> int:
    """Return where the values of a variable are."""
    tensor = load_tensorflow().convert_to_tensor(variable)
    address: int = tensor._numpy().__array_interface__["data"][0]
    return address


def name_of(variable: Any) -> str:
    """Return a variable's name, with that of its layer."""
    return str(getattr(variable, "path", None) or variable.name)


def specs_of(weights: Sequence[Weight], groups: Sequence[int]) -> list[Spec]:
    """Describe trainable variables for the parameter server."""
    specs: list[Spec] = []
    names: dict[str, int] = {}
    for weight, group in zip(weights, groups, strict=True):
        variable = weight.variable
        kind = np.dtype(getattr(variable.dtype, "name", variable.dtype)).name
        if kind not in ("float32", "float64"):
            msg = (
                f"variable {name_of(variable)!r} is {kind}; variables are trained as "
                "float32 or float64"
            )
            raise XShardsTypeError(msg)
        name = name_of(variable)
        names[name] = names.get(name, 0) + 1
        unique = name if names[name] == 1 else f"{name}#{names[name]}"
        specs.append((unique, int(np.prod(weight.shape, dtype=int)), kind, group))
    return specs
