"""Package metadata: dependencies have ranges that include the pinned versions."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.paths import ROOT

REQUIREMENTS = ROOT / "requirements"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def of_file(path: Path) -> list[Requirement]:
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


RUN = of_file(REQUIREMENTS / "run.in")
BUILD = [Requirement(line) for line in PROJECT["build-system"]["requires"]]
PINS = re.findall(
    r"^([A-Za-z0-9_.-]+)(?:\[.*\])?==([^ ;\\]+)",
    (REQUIREMENTS / "server.txt").read_text(),
    re.MULTILINE,
)


def test_the_metadata_has_the_dependencies_of_run_in() -> None:
    dynamic = PROJECT["tool"]["setuptools"]["dynamic"]["dependencies"]
    assert PROJECT["project"]["dynamic"] == ["dependencies"]
    assert dynamic == {"file": ["requirements/run.in"]}


@pytest.mark.parametrize("requirement", [*RUN, *BUILD], ids=lambda each: each.name)
def test_a_dependency_has_a_lower_and_an_upper_bound(requirement: Requirement) -> None:
    operators = {specifier.operator for specifier in requirement.specifier}
    assert operators == {">=", "<"}


@pytest.mark.parametrize("requirement", [*RUN, *BUILD], ids=lambda each: each.name)
def test_the_pinned_versions_are_in_the_range(requirement: Requirement) -> None:
    versions = [version for name, version in PINS if name.lower() == requirement.name.lower()]
    assert versions
    assert [each for each in versions if each not in requirement.specifier] == []
