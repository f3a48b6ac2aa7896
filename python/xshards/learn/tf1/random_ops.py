# SPDX-License-Identifier: Apache-2.0
"""Random operations that draw from a seed which is fed with each batch.

A session's own generators go on from wherever they are, so a replica that takes the
place of another, or a second run with the same seed, would draw other numbers.
"""

from __future__ import annotations

from typing import Any

__all__ = ["SEED", "make_repeatable"]

#: The placeholder for the seed, two integers.
SEED = "xshards_seed"
_SHARE = "xshards_seed_of_"

# Operations with a seed of their own, what draws the same from a seed that is fed, at
# which input that goes, and which attributes the two share.
_STATELESS = {
    "RandomUniform": ("StatelessRandomUniform", 1, ("dtype", "T")),
    "RandomStandardNormal": ("StatelessRandomNormal", 1, ("dtype", "T")),
    "TruncatedNormal": ("StatelessTruncatedNormal", 1, ("dtype", "T")),
    "RandomUniformInt": ("StatelessRandomUniformInt", 1, (("Tout", "dtype"), "T")),
    "Multinomial": ("StatelessMultinomial", 2, ("T", "output_dtype")),
}


def make_repeatable(graph_def: Any) -> bool:
    """Have the random operations of a GraphDef draw from `SEED`.

    Returns
    -------
    bool
        Whether there are any; if not there is no placeholder either.
    """
    found = [node for node in graph_def.node if node.op in _STATELESS]
    for number, node in enumerate(found):
        _replace(graph_def, node, number)
    inside = [
        node
        for function in graph_def.library.function
        for node in function.node_def
        if node.op in _STATELESS
    ]
    for node in inside:
        # A function has no place for one more input: it gets a seed that is fixed.
        if not node.attr["seed"].i and not node.attr["seed2"].i:
            node.attr["seed"].i, node.attr["seed2"].i = 1, 1
    if found:
        _add_placeholder(graph_def)
    return bool(found)


def _replace(graph_def: Any, node: Any, number: int) -> None:
    name, place, shared = _STATELESS[node.op]
    kept = {}
    for one in shared:
        old, new = one if isinstance(one, tuple) else (one, one)
        kept[new] = type(node.attr[old]).FromString(node.attr[old].SerializeToString())
    node.op = name
    inputs = list(node.input)
    inputs.insert(place, f"{_SHARE}{number}")
    del node.input[:]
    node.input.extend(inputs)
    node.attr.clear()
    for key, value in kept.items():
        node.attr[key].CopyFrom(value)
    node.attr["Tseed"].type = _INT64
    _add_share(graph_def, number)


_INT64 = 9  # of TensorFlow's types.proto


def _add_share(graph_def: Any, number: int) -> None:
    """Give each operation a seed of its own: the batch's plus its number."""
    offset = graph_def.node.add(name=f"{_SHARE}{number}/offset", op="Const")
    offset.attr["dtype"].type = _INT64
    value = offset.attr["value"].tensor
    value.dtype = _INT64
    value.tensor_shape.dim.add(size=2)
    value.int64_val.extend([0, number])
    total = graph_def.node.add(name=f"{_SHARE}{number}", op="AddV2")
    total.input.extend([SEED, offset.name])
    total.attr["T"].type = _INT64


def _add_placeholder(graph_def: Any) -> None:
    node = graph_def.node.add(name=SEED, op="Placeholder")
    node.attr["dtype"].type = _INT64
    node.attr["shape"].shape.dim.add(size=2)
