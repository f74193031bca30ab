"""Fixtures: a scripted fake server, and an agent that is stopped after each test."""

import logging
from collections.abc import Iterator

import families
import pytest
from fake_server import FakeServer, serving
from fakes import KEY

import flamewatch


@pytest.fixture(autouse=True)
def _no_orphans() -> Iterator[None]:
    yield
    families.end_all()


@pytest.fixture
def served() -> Iterator[tuple[FakeServer, str]]:
    with serving() as pair:
        yield pair


@pytest.fixture
def server(served: tuple[FakeServer, str]) -> FakeServer:
    return served[0]


@pytest.fixture
def url(served: tuple[FakeServer, str]) -> str:
    return served[1]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, url: str) -> Iterator[None]:
    """Set the environment of a service with a key and an address."""
    monkeypatch.setenv("FLAMEWATCH_URL", url)
    monkeypatch.setenv("FLAMEWATCH_KEY", KEY)
    monkeypatch.setenv("FLAMEWATCH_SERVICE", "checkout")
    yield
    flamewatch.stop()


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Collect the agent's log lines."""
    found: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    logger, keep = logging.getLogger("flamewatch"), Keep()
    logger.addHandler(keep)
    yield found
    logger.removeHandler(keep)
