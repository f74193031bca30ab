import base64
import time
import uuid
from typing import Any

import pytest
from fake_server import (
    FakeServer,
    Respond,
    assigned,
    cut,
    error_response,
    flood,
    garbage,
    redirect,
    serving,
    stored,
    text,
    throttled,
)
from fakes import KEY, WORK, FakeBell, FakeSampler, capture, config
from pprof_reader import read

from flamewatch.capture.profile_types import MEMORY, ProfileType
from flamewatch.capture.sampler import Capture, Wait
from flamewatch.capture.stacks import Stack
from flamewatch.process.counters import Counters
from flamewatch.process.worker import PACE, Worker
from flamewatch.transport.client import Client
from flamewatch.transport.identity import USER_AGENT, new_identity
from flamewatch.transport.upload import upload


class Running:
    """Worker that has completed `rounds` rounds."""

    def __init__(self, url: str, rounds: int, *outcomes: Capture | Exception) -> None:
        self.bell = FakeBell(rounds + 1)
        self.sampler = FakeSampler(*outcomes)
        self.counters = Counters()
        self.identity = new_identity()
        client = Client(config(url), self.identity, {})
        worker = Worker(url, client, self.sampler, self.counters, self.bell)  # type: ignore[arg-type]
        worker.run(0.0)
        self.worker = worker

    @property
    def pauses(self) -> list[float]:
        """Pauses after each round, in seconds."""
        return self.bell.pauses[1:]


def test_handshake_has_the_offered_types_and_the_identity(server: FakeServer, url: str) -> None:
    running = Running(url, 1)
    [seen] = server.seen
    assert (seen.method, seen.path) == ("POST", "/v2/projects/-/profiles")
    assert seen.json["profileType"] == list(ProfileType)
    assert seen.json["deployment"]["target"] == "checkout"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["user-agent"] == USER_AGENT
    assert seen.headers["x-flamewatch-host"] == running.identity.host
    assert uuid.UUID(seen.agent).version == 4


@pytest.mark.parametrize("kind", list(ProfileType))
def test_an_assigned_profile_is_captured_and_sent(
    server: FakeServer, url: str, kind: ProfileType
) -> None:
    server.respond_with("POST", assigned(kind, "10s"))
    values = (3, 30_000_000) * 2 if kind in MEMORY else ()
    running = Running(url, 1, capture(Stack((WORK,), 30_000_000, 3, 7, "", False, values=values)))
    assert running.sampler.captures == [(kind, 10.0)]
    [seen] = server.requests("PATCH")
    assert seen.json["profileType"] == kind
    found = read(base64.b64decode(seen.json["profileBytes"]))
    assert found.total(found.default_metric) == 30_000_000
    assert seen.connection == server.requests("POST")[0].connection, "one connection does both"
    assert running.counters.profiles_sent == 1
    assert running.counters.samples == 3
    assert running.pauses == [PACE]


def test_a_throttle_is_not_logged_and_its_delay_is_observed(
    server: FakeServer, url: str, lines: list[str]
) -> None:
    server.respond_with("POST", throttled("33s"))
    running = Running(url, 20)
    assert all(33 <= pause <= 33 * 1.1 for pause in running.pauses)
    assert lines == []


@pytest.mark.parametrize("status", [401, 403])
def test_rejected_key_is_logged_once_and_retried_with_growing_delays(
    server: FakeServer, url: str, lines: list[str], status: int
) -> None:
    server.respond_with("POST", error_response(status, "This key was revoked.", "60s"))
    running = Running(url, 30)
    [line] = lines
    why = f"API key rejected by {url} ({status}): This key was revoked"
    assert line.startswith(f"flamewatch: {why} (retry in {running.pauses[0]:.0f} s). ")
    assert KEY not in line
    assert min(running.pauses) >= 60
    assert running.pauses[-1] >= 1800
    assert running.counters.state != "failed"


def test_outage_and_recovery_of_the_server_are_logged_once_each(
    server: FakeServer, url: str, lines: list[str]
) -> None:
    dead: list[Respond] = [
        cut,
        garbage,
        error_response(503, "starting"),
        text(b"<html>", 502),
        flood,
    ]
    server.respond_with("POST", *dead, throttled("1s"))
    Running(url, 8)
    assert len(lines) == 2
    assert lines[0].startswith(f"flamewatch: cannot send profiles to {url}: the connection was")
    assert lines[1].startswith(f"flamewatch: {url} works again")


def test_response_of_another_program_is_logged_once(
    server: FakeServer, url: str, lines: list[str]
) -> None:
    server.respond_with("POST", text(b"<html>Welcome"), assigned("PEAK_HEAP"), text(b"{}", 204))
    Running(url, 3)
    assert len(lines) == 1
    assert "not a JSON object" in lines[0]


def test_redirect_is_logged_and_not_followed(
    server: FakeServer, url: str, lines: list[str]
) -> None:
    with serving() as (elsewhere, other_url):
        server.respond_with("POST", redirect(other_url))
        Running(url, 3)
        assert elsewhere.seen == []
    [line] = lines
    assert f"redirects to {other_url}; set FLAMEWATCH_URL" in line


def test_a_message_of_the_server_is_one_bounded_line(
    server: FakeServer, url: str, lines: list[str]
) -> None:
    server.respond_with("POST", error_response(400, "no\nfake: line \x1b[31m" + "x" * 10_000))
    Running(url, 1)
    [line] = lines
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 400


def test_a_failing_capture_is_counted_and_the_type_withdrawn(
    server: FakeServer, url: str, lines: list[str]
) -> None:
    server.respond_with("POST", *[assigned("CPU")] * 3, throttled("1s"))
    running = Running(url, 4, RuntimeError("the kernel refuses timers"))
    assert running.counters.errors == 3
    assert running.counters.profiles_dropped == 3
    assert server.requests("PATCH") == []
    left = [kind for kind in ProfileType if kind is not ProfileType.CPU]
    assert server.requests("POST")[-1].json["profileType"] == left
    [line] = lines
    assert "capturing a CPU profile failed: RuntimeError: the kernel refuses timers" in line


def test_a_capture_that_works_again_is_forgiven(server: FakeServer, url: str) -> None:
    server.respond_with("POST", assigned("CPU"))
    failure = RuntimeError("once")
    running = Running(url, 6, failure, failure, capture(), failure, failure, capture())
    assert running.counters.profiles_sent == 2
    assert ProfileType.CPU in running.worker.types


def test_worker_without_a_capturable_type_ends_with_a_log_line(
    server: FakeServer, url: str, lines: list[str]
) -> None:
    kinds = [assigned(kind) for kind in ProfileType for _ in range(3)]
    server.respond_with("POST", *kinds)
    running = Running(url, 50, RuntimeError("no"))
    assert len(server.requests("POST")) == 3 * len(ProfileType)
    assert running.counters.state == "failed"
    assert "no profile type can be captured" in lines[-1]


def test_dropped_samples_are_counted_by_their_reason(server: FakeServer, url: str) -> None:
    server.respond_with("POST", assigned("CPU"))
    outcomes = (
        capture(dropped={"torn": 3, "no_slot": 0}),
        capture(dropped={"torn": 1, "no_slot": 2}),
    )
    counters = Running(url, 2, *outcomes).counters
    assert counters.samples_dropped == 6
    assert counters.dropped_because == {"torn": 4, "no_slot": 2}
    assert counters.memory_bytes == 70_000


def test_each_profile_reports_all_cpu_time_since_the_one_before(
    server: FakeServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile reports the encoding and upload of the previous one, which follow its report."""

    def costly(*arguments: Any) -> Any:
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass
        return upload(*arguments)

    monkeypatch.setattr("flamewatch.process.worker.upload", costly)
    server.respond_with("POST", assigned("CPU", "10s"))
    Running(url, 2)
    profiles = [
        read(base64.b64decode(one.json["profileBytes"])) for one in server.requests("PATCH")
    ]
    first, second = (int(profile.comment("agent_cpu_ns")) for profile in profiles)
    assert first < 0.1e9 <= second


def test_rejected_upload_is_counted_and_its_retry_delay_observed(
    server: FakeServer, url: str, lines: list[str]
) -> None:
    server.respond_with("POST", assigned("CPU"))
    server.respond_with("PATCH", error_response(429, "Quota reached", "300s"))
    running = Running(url, 2)
    assert running.counters.profiles_dropped == 2
    assert running.counters.profiles_sent == 0
    assert min(running.pauses) >= 300
    assert lines[0].startswith("flamewatch: profile not uploaded: 429 Quota reached")


def test_an_upload_survives_a_short_outage(server: FakeServer, url: str) -> None:
    server.respond_with("POST", assigned("CPU"))
    server.respond_with("PATCH", error_response(503), error_response(503), stored)
    running = Running(url, 3)  # two of the waits belong to the upload
    assert running.counters.profiles_sent == 1


def test_a_capture_that_was_ended_early_is_sent_with_its_true_duration(
    server: FakeServer, url: str
) -> None:
    server.respond_with("POST", assigned("CPU", "10s"))
    bell = FakeBell(2)

    class Ended(FakeSampler):
        def capture(self, kind: ProfileType, seconds: float, wait: Wait) -> Capture:
            bell.ring()
            return super().capture(kind, seconds, wait)

    client = Client(config(url), new_identity(), {})
    Worker(url, client, Ended(capture(duration_ns=2_500_000_000)), Counters(), bell).run(0.0)  # type: ignore[arg-type]
    [seen] = server.requests("PATCH")
    assert seen.json["duration"] == "2.500s"


def test_unexpected_exceptions_are_counted_and_logged_once(
    url: str, server: FakeServer, lines: list[str]
) -> None:
    bell, counters = FakeBell(4), Counters()
    client = Client(config(url), new_identity(), {})
    client.handshake = lambda types: 1 / 0  # type: ignore[method-assign,assignment,return-value]
    Worker(url, client, FakeSampler(), counters, bell).run(0.0)  # type: ignore[arg-type]
    assert counters.errors == 3
    assert len(lines) == 1
    assert "ZeroDivisionError" in lines[0]
