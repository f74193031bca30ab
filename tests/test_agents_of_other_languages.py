"""Unit tests of the Go and the Node.js agent, by the tools of their languages."""

import subprocess

import pytest

from tests import services
from tests.paths import ROOT

pytestmark = pytest.mark.server


def test_the_go_agent() -> None:
    run([services.go(), "test", "./..."], "go")


def test_the_nodejs_agent() -> None:
    run([services.find("node"), "--test", "test/"], "node")


def run(command: list[str], agent: str) -> None:
    done = subprocess.run(
        command, cwd=ROOT / "agents" / agent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
