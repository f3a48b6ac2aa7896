# SPDX-License-Identifier: Apache-2.0
"""Every public callable is documented: summary, parameters, result, errors, example."""

import inspect
import re

import pytest

import xshards as xs
from xshards import transformer
from xshards.expressions import DatetimeMethods, StringMethods
from xshards.expressions.iso_calendar import IsoCalendar
from xshards.expressions.split_text import PartMethods

CLASSES = {
    "Context": xs.Context,
    "Expression": xs.Expression,
    "Expression.dt": DatetimeMethods,
    "Expression.dt.isocalendar()": IsoCalendar,
    "Expression.str": StringMethods,
    "Expression.str.split().str": PartMethods,
    "Profile": xs.Profile,
    "SharedValue": xs.SharedValue,
    "StageProfile": xs.StageProfile,
    "XShards": xs.XShards,
    **{
        f"transformer.{name}": getattr(transformer, name)
        for name in transformer.__all__
    },
}
SECTIONS = ("Parameters", "Returns", "Raises", "Examples")
# The engine makes these: users call no constructor.
NOT_CONSTRUCTED = ("Expression", "Profile", "StageProfile", "XShards")


def public_callables():
    """Yield the name and the object of all that users call."""
    for name in xs.__all__:
        member = getattr(xs, name)
        if inspect.isfunction(member):
            yield f"xs.{name}", member
    for owner, cls in CLASSES.items():
        yield owner, cls
        for name in dir(cls):
            if name.startswith("_"):
                continue
            member = inspect.getattr_static(cls, name)
            member = getattr(member, "__func__", member)
            if inspect.isfunction(member):
                yield f"{owner}.{name}", member


def public_properties():
    """Yield the name and the object of all that users read as an attribute."""
    for owner, cls in CLASSES.items():
        for name in dir(cls):
            member = inspect.getattr_static(cls, name)
            if not name.startswith("_") and isinstance(member, property):
                yield f"{owner}.{name}", member


def sections(text):
    """Give the text of each section of a docstring, and that above them as Summary."""
    heads = rf"^({'|'.join(SECTIONS)}|Notes|See Also)\n-+\n"
    parts = re.split(heads, inspect.cleandoc(text or ""), flags=re.M)
    return {"Summary": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def parameters_of(member):
    """Give the names of parameters, but for self."""
    function = member.__init__ if inspect.isclass(member) else member
    if function is object.__init__ or not inspect.isfunction(function):
        return []
    names = list(inspect.signature(function).parameters)
    return [name for name in names if name not in ("self", "cls", "of")]


def documented(section):
    """Give the names of parameters that a section has entries for."""
    heads = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return {
        name.strip(" *")
        for head in heads
        for name in head.partition(" : ")[0].split(",")
    }


CALLABLES = dict(public_callables())
PROPERTIES = dict(public_properties())


def test_all_public_names_are_found():
    assert len(CALLABLES) > 190
    assert len(PROPERTIES) > 15


@pytest.mark.parametrize("name", CALLABLES)
def test_a_callable_is_documented(name):
    member = CALLABLES[name]
    found = sections(member.__doc__)
    first = found["Summary"].partition("\n")[0]
    assert first.endswith("."), f"summary: {first!r}"
    assert "Examples" in found, "no Examples"
    assert ">>> " in found["Examples"]
    wanted = () if name in NOT_CONSTRUCTED else parameters_of(member)
    missing = set(wanted) - documented(found.get("Parameters", ""))
    assert not missing, f"no Parameters: {sorted(missing)}"
    if inspect.isclass(member):
        return
    result = str(inspect.signature(member).return_annotation)
    if result not in ("None", "NoReturn"):
        assert "Returns" in found, "no Returns"
    if re.search(r"^\s+raise XShards", inspect.getsource(member), re.M):
        assert "Raises" in found, "no Raises"


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_is_documented(name):
    found = sections(PROPERTIES[name].__doc__)
    assert found["Summary"].partition("\n")[0].endswith(".")
    assert ">>> " in found.get("Examples", "")
