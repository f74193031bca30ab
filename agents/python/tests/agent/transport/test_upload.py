import pytest
from fake_server import FakeServer, error_response, stored
from fakes import FakeBell, config, upper

from flamewatch.capture.profile_types import ProfileType
from flamewatch.transport.client import Client
from flamewatch.transport.identity import Identity
from flamewatch.transport.messages import Assignment
from flamewatch.transport.upload import ATTEMPTS, Lost, upload

ASSIGNMENT = Assignment("projects/acme/profiles/p1", ProfileType.CPU, 10.0)


def send(url: str, bell: FakeBell | None = None) -> Lost | None:
    client = Client(config(url), Identity("an-agent", "web-1"), {})
    try:
        return upload(client, ASSIGNMENT, b"bytes", (bell or FakeBell(100)).wait, upper)
    finally:
        client.connection.close()


def test_accepted_upload_is_sent_once(server: FakeServer, url: str) -> None:
    assert send(url) is None
    [seen] = server.seen
    assert (seen.method, seen.path) == ("PATCH", "/v2/projects/acme/profiles/p1")
    assert (seen.agent, seen.headers["x-flamewatch-host"]) == ("an-agent", "web-1")


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408])
def test_a_short_outage_is_waited_out(server: FakeServer, url: str, status: int) -> None:
    server.respond_with(
        "PATCH", error_response(status, delay=None), error_response(status, delay=None), stored
    )
    bell = FakeBell(100)
    assert send(url, bell) is None
    assert len({seen.body for seen in server.seen}) == 1, (
        "the same bytes, so it is the same profile"
    )
    assert bell.pauses == [2.0, 4.0]


def test_retry_waits_for_the_delay_of_the_server(server: FakeServer, url: str) -> None:
    server.respond_with("PATCH", error_response(503, delay="7s"), stored)
    bell = FakeBell(100)
    assert send(url, bell) is None
    assert bell.pauses == pytest.approx([7.7])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 429])
def test_an_error_response_is_final(server: FakeServer, url: str, status: int) -> None:
    server.respond_with("PATCH", error_response(status, "not this one", "30s"))
    lost = send(url)
    assert lost is not None
    assert lost.reason == f"{status} not this one"
    assert lost.error is not None
    assert lost.error.retry_after == 30
    assert len(server.seen) == 1


def test_upload_is_given_up_after_the_maximum_of_attempts(server: FakeServer, url: str) -> None:
    server.respond_with("PATCH", error_response(503, "away", delay=None))
    assert send(url) is not None
    assert len(server.seen) == ATTEMPTS


def test_retry_delay_longer_than_the_limit_gives_up_at_once(server: FakeServer, url: str) -> None:
    server.respond_with("PATCH", error_response(503, "away", "3000s"))
    bell = FakeBell(100)
    assert send(url, bell) is not None
    assert bell.pauses == []


def test_stop_ends_the_retries(server: FakeServer, url: str) -> None:
    server.respond_with("PATCH", error_response(503, "away", None))
    assert send(url, FakeBell(1)) is not None
    assert len(server.seen) == 1
