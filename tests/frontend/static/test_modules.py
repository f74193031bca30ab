"""Browser modules: their tests under Node.js, and their types."""

import json
from pathlib import Path

import pytest

from tests.node import run_file
from tests.paths import ROOT

TESTS = sorted((ROOT / "tests" / "frontend" / "js").rglob("*.test.js"))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_javascript_tests_pass_under_node(path: Path) -> None:
    run_file(path)  # without `--test`, which starts a second process for each file


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
