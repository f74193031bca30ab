"""Test programs in processes of their own, with this tree's agent on their path."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import families
from fakes import KEY

SOURCE = str(Path(__file__).parents[2] / "src")


def environ(url: str, **more: str) -> dict[str, str]:
    """Return the environment of a process that can import the agent, with a key and an address."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("FLAMEWATCH")}
    ours |= {"PYTHONPATH": SOURCE, "FLAMEWATCH_URL": url, "FLAMEWATCH_KEY": KEY}
    return ours | {"FLAMEWATCH_SERVICE": "checkout"} | more


def begin(
    program: str, url: str, *options: str, python: str = sys.executable, **more: str
) -> subprocess.Popen[str]:
    return families.begin(
        [python, *options, "-c", textwrap.dedent(program)],
        env=environ(url, **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(program: str, url: str, *options: str, **more: str) -> tuple[str, str]:
    """Return the program's stdout and stderr, after checking that it exits cleanly."""
    process = begin(program, url, *options, **more)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return out, errors
