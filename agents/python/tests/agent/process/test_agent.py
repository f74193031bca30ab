import threading
from collections.abc import Iterator

import pytest
from fake_server import FakeServer, assigned
from fakes import FakeSampler, config

from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture, Wait
from flamewatch.process.agent import Agent


class StuckSampler(FakeSampler):
    """Sampler whose capture does not return when it is told to end."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.release_socket = threading.Event(), threading.Event()

    def capture(self, kind: ProfileType, seconds: float, wait: Wait) -> Capture:
        self.entered.set()
        self.release_socket.wait()
        raise RuntimeError("let go")


@pytest.fixture
def stuck() -> Iterator[StuckSampler]:
    made = StuckSampler()
    yield made
    made.release_socket.set()


def test_stop_returns_within_its_time_limit(
    server: FakeServer, url: str, stuck: StuckSampler
) -> None:
    server.respond_with("POST", assigned("CPU"))
    agent = Agent(config(url), stuck)
    agent.start(0.0)
    assert stuck.entered.wait(20)
    assert agent.stop(0.05) is False
    assert stuck.closed


def test_stop_before_the_first_handshake_sends_none(server: FakeServer, url: str) -> None:
    agent = Agent(config(url), FakeSampler())
    agent.start(60.0)
    assert agent.stop(20.0) is True
    assert server.connections == 0
    assert agent.status()["state"] == "stopped"
