"""Variables and arguments in the README equal those of the code."""

import inspect
import re
from pathlib import Path

import flamewatch
from flamewatch import config, environment

README = (Path(__file__).parents[2] / "README.md").read_text()
VARIABLE = re.compile(r"\b(?:FLAMEWATCH|OTEL|K|GAE)_[A-Z_]+")


def test_readme_lists_exactly_the_environment_variables() -> None:
    source = inspect.getsource(config) + inspect.getsource(environment)
    assert set(VARIABLE.findall(README)) == set(VARIABLE.findall(source))


def test_readme_lists_every_argument_of_start() -> None:
    table = set(re.findall(r"^\| `\w+` \| `(\w+)` \|", README, re.MULTILINE))
    assert table == set(inspect.signature(flamewatch.start).parameters)
