"""gRPC port of `flamewatch up`: a second server on one machine starts without it."""

import socket
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from profiler_site.cli import up
from profiler_site.process.server import PortTaken
from tests.services import free_port

HOST, VARIABLE = "127.0.0.1", "FLAMEWATCH_GRPC_PORT"


@pytest.fixture
def taken_port(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.delenv(VARIABLE, raising=False)
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        settings.GRPC_PORT = listener.getsockname()[1]
        yield settings.GRPC_PORT


def test_a_taken_default_port_leaves_grpc_out(
    taken_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up._grpc_server(HOST) is None
    said = capsys.readouterr().err
    assert f"Port {taken_port} on {HOST} is already in use." in said
    assert f"{VARIABLE}={taken_port + 1}" in said
    assert "without gRPC" in said


def test_a_taken_port_that_is_set_stops_the_start(
    taken_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(taken_port))
    with pytest.raises(PortTaken, match=VARIABLE):
        up._grpc_server(HOST)


def test_a_free_port_is_used_and_zero_means_none(settings: Settings) -> None:
    settings.GRPC_PORT = free_port()
    server = up._grpc_server(HOST)
    assert server
    assert server.address == f"{HOST}:{settings.GRPC_PORT}"
    settings.GRPC_PORT = 0
    assert up._grpc_server(HOST) is None
