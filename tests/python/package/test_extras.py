# SPDX-License-Identifier: Apache-2.0
"""The requirements of the package agree with the tested versions.

Nothing is downloaded: pins are compared with specifiers, those of pyproject.toml and
those in the metadata of the packages that are installed here.
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
FRAMEWORKS = [name for name in EXTRAS if name != "all"]


def read_pins(text):
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    pairs = (line.split("==") for line in lines if line)
    return {canonicalize_name(name): version for name, version in pairs}


PINS = read_pins((ROOT / "python" / "constraints.txt").read_text())


def problem_with(requirement, pins=PINS):
    """Say what is wrong with a requirement, given the pins; None if nothing is."""
    version = pins.get(canonicalize_name(requirement.name))
    if version is None:
        return f"{requirement.name} is not pinned"
    if requirement.specifier.contains(version, prereleases=True):
        return None
    return f"{requirement} is pinned to {version}"


def applies(requirement, extras):
    marker = requirement.marker
    return marker is None or any(
        marker.evaluate({"extra": extra}) for extra in extras or ("",)
    )


def installed_requirements(requirement, seen):
    """Yield what the installed packages below a requirement ask for, with who asks."""
    name = canonicalize_name(requirement.name)
    key = (name, frozenset(requirement.extras))
    if key in seen:
        return
    seen.add(key)
    try:
        texts = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    for below in map(Requirement, texts):
        if applies(below, requirement.extras):
            yield name, below
            yield from installed_requirements(below, seen)


@pytest.mark.parametrize("extra", ["", *FRAMEWORKS])
def test_extra_asks_for_pinned_versions(extra):
    texts = EXTRAS[extra] if extra else PROJECT["project"]["dependencies"]
    assert [p for p in map(problem_with, map(Requirement, texts)) if p] == []


@pytest.mark.parametrize("extra", FRAMEWORKS)
def test_extra_asks_for_exactly_the_tested_version(extra):
    for requirement in map(Requirement, EXTRAS[extra]):
        pin = PINS[canonicalize_name(requirement.name)]
        assert str(requirement.specifier) == f"=={pin}"


def test_all_is_every_other_extra():
    (requirement,) = map(Requirement, EXTRAS["all"])
    assert requirement.name == PROJECT["project"]["name"]
    assert requirement.extras == set(FRAMEWORKS)


def test_isolated_build_can_use_the_pinned_versions():
    needed = [Requirement(text) for text in PROJECT["build-system"]["requires"]]
    pinned = [one for one in needed if canonicalize_name(one.name) in PINS]
    assert {one.name for one in needed} - {one.name for one in pinned} <= {"pip"}
    assert [p for p in map(problem_with, pinned) if p] == []


@pytest.mark.parametrize("extra", ["", *FRAMEWORKS])
def test_installed_packages_agree_with_the_pins(extra):
    texts = EXTRAS[extra] if extra else []
    texts = [*PROJECT["project"]["dependencies"], *texts]
    seen = set()
    problems = [
        f"{who} asks for {below}: {problem}"
        for requirement in map(Requirement, texts)
        for who, below in installed_requirements(requirement, seen)
        if (problem := problem_with(below))
    ]
    assert problems == []


def test_legacy_keras_is_installed_as_pyproject_says():
    text = (ROOT / "pyproject.toml").read_text()
    (line,) = re.findall(r"`pip install --no-deps (\S+)`", text)
    assert problem_with(Requirement(line)) is None
    tensorflow = Requirement(EXTRAS["tensorflow"][-1])
    assert tensorflow.name == "tensorflow-cpu"
    major_minor = PINS["tensorflow-cpu"].rpartition(".")[0]
    assert PINS["tf-keras"].startswith(f"{major_minor}.")


def test_problems_are_named():
    pins = {"a": "1.0"}
    assert problem_with(Requirement("a>=1"), pins) is None
    assert problem_with(Requirement("a>1"), pins) == "a>1 is pinned to 1.0"
    assert problem_with(Requirement("b"), pins) == "b is not pinned"
