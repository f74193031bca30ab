"""Test programs that are run and sampled by each interpreter of this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import families
import pytest
from interpreters import program

PROGRAMS = Path(__file__).parent / "programs"
SOURCE = Path(__file__).parents[2] / "src"
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"

Run = Callable[..., Any]


def found(version: str) -> str | None:
    """Find an interpreter of that version with the usual build (not free-threaded, not debug)."""
    if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    unpacked = program(f"python{version}")
    return first_of(version, *sorted(PYENV.glob(f"{version}.*/bin/python")), unpacked)


def first_of(version: str, *candidates: Path) -> str | None:
    for candidate in (*map(str, candidates), f"python{version}"):
        command = [candidate, "-c", "import sys; print(sys.version)"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            continue
        if done.stdout.startswith(f"{version}."):
            return candidate
    return None


INTERPRETERS = {version: path for version in VERSIONS if (path := found(version))}
OTHERS = [version for version, path in INTERPRETERS.items() if path != sys.executable]
ABSENT = [version for version in VERSIONS if version not in INTERPRETERS]
if not program("python3.14-dbg").exists():
    ABSENT.append("a debug build")


def pytest_report_header() -> str:
    absent = f"{', '.join(ABSENT)} (make interpreters has the newest)" if ABSENT else "none"
    return f"sampled interpreters: {', '.join(INTERPRETERS)}; absent: {absent}"


def parameters() -> list[Any]:
    """Return the interpreter that runs the tests; the others are for `make test-all`."""
    mine = [version for version in INTERPRETERS if version not in OTHERS]
    return [*mine, *(pytest.param(version, marks=pytest.mark.nightly) for version in OTHERS)]


@cache
def outcome(command: tuple[str, ...], more: tuple[str, ...], timeout: float, execution: int) -> Any:
    """Return the JSON that a program of `programs/` prints.

    The program runs once for all tests that use its result.
    """
    ours = {"PYTHONPATH": str(SOURCE), "PYTHONFAULTHANDLER": "1"}
    environment = os.environ | ours | dict(pair.split("=", 1) for pair in more)
    done = families.run(command, env=environment, timeout=timeout)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stderr}"
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(params=parameters(), scope="module")
def python(request: pytest.FixtureRequest) -> str:
    return INTERPRETERS[request.param]


@pytest.fixture
def run(request: pytest.FixtureRequest, python: str) -> Run:
    """Run a program of `programs/`, and return the JSON in the last line that it prints.

    A repeated measurement gets a result of its own. `more` adds environment variables, as
    NAME=value.
    """
    return runner(request, python)


@pytest.fixture(params=OTHERS)
def run_other(request: pytest.FixtureRequest) -> Run:
    """Run a program with each other interpreter, for the few tests that need all of them."""
    return runner(request, INTERPRETERS[request.param])


@pytest.fixture
def run_here(request: pytest.FixtureRequest) -> Run:
    """Run a program with the tests' own interpreter, which has their requirements installed."""
    return runner(request, sys.executable)


def runner(request: pytest.FixtureRequest, python: str) -> Run:
    execution = getattr(request.node, "execution_count", 1)

    def run_program(name: str, *arguments: object, timeout: float = 500, more: str = "") -> Any:
        command = (python, str(PROGRAMS / name), *map(str, arguments))
        return outcome(command, tuple(more.split()), timeout, execution)

    return run_program
