"""Fixtures: a scripted server, and the example program of each agent."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from example_program import KEY, Program, Run
from fake_server import FakeServer, serving
from languages import ALL, Language


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Language], list[str]]:
    built: dict[str, list[str]] = {}

    def command(language: Language) -> list[str]:
        if language.name not in built:
            built[language.name] = language.command(tmp_path_factory.mktemp(language.name))
        return built[language.name]

    return command


@pytest.fixture(params=[*ALL])
def language(request: pytest.FixtureRequest) -> Language:
    return ALL[request.param]


@pytest.fixture
def server() -> Iterator[tuple[FakeServer, str]]:
    with serving() as served:
        yield served


@pytest.fixture
def run(language: Language, commands: Callable[[Language], list[str]], tmp_path: Path) -> Run:
    @contextlib.contextmanager
    def start_program(url: str, **environment: str) -> Iterator[Program]:
        values = {
            "FLAMEWATCH_URL": url,
            "FLAMEWATCH_KEY": KEY,
            "FLAMEWATCH_SERVICE": "conformance",
            "FLAMEWATCH_VERSION": "1.2.3",
            "FLAMEWATCH_ZONE": "eu-1",
            **dict(language.environment),
            **environment,
        }
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("FLAMEWATCH") and not name.lower().endswith("_proxy")
        }
        log = tmp_path / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                commands(language), env=inherited | values, stdout=output, stderr=output
            )
        try:
            yield Program(process, log)
        finally:
            process.kill()
            process.wait()

    return start_program
