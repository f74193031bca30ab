"""Browser modules: their tests under Node.js, and their types."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.paths import ROOT

TESTS = sorted((ROOT / "tests" / "frontend" / "js").glob("*.test.js"))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_it_passes_under_node(path: Path) -> None:
    node = shutil.which("node")
    assert node, "these tests need Node.js: apt install nodejs"
    # Without `--test`, which starts a second process for each file.
    done = subprocess.run([node, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
