"""Behaviour of every agent in any language: protocol, back-off, errors, contents."""

import base64
import signal
import time

import pytest
from example_program import KEY, Run
from fake_server import FakeServer, assigned, cut, error_response, garbage, stored, throttled
from languages import Language
from pprof_reader import read

pytestmark = pytest.mark.server

Served = tuple[FakeServer, str]


def test_a_handshake_has_types_deployment_and_identity(
    language: Language, run: Run, server: Served
) -> None:
    fake, url = server
    with run(url):
        first, second = fake.wait_for("POST", 2)[:2]
    assert first.path == "/v2/projects/-/profiles"
    assert set(first.json["profileType"]) == set(language.types)
    assert first.json["deployment"]["target"] == "conformance"
    assert first.json["deployment"]["labels"] == {
        "language": language.name,
        "version": "1.2.3",
        "zone": "eu-1",
    }
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.headers["user-agent"].startswith(f"flamewatch-{language.name}/")
    assert first.headers["x-flamewatch-host"]
    assert first.agent == second.agent
    assert len(first.agent) == 36
    assert first.connection == second.connection, "each request opened a connection"


def test_each_type_has_a_profile_with_its_metric(
    language: Language, run: Run, server: Served
) -> None:
    fake, url = server
    names = [f"projects/acme/profiles/p{number}" for number in range(len(language.types))]
    requests = [
        assigned(kind, "1.500s", name) for kind, name in zip(language.types, names, strict=True)
    ]
    fake.respond_with("POST", *requests, throttled("60s"))
    with run(url):
        uploads = fake.wait_for("PATCH", len(requests))
    assert [seen.path for seen in uploads] == [f"/v2/{name}" for name in names]
    for (kind, metric), seen in zip(language.types.items(), uploads, strict=True):
        assert seen.json["profileType"] == kind
        assert seen.json["labels"]["instance"] == seen.headers["x-flamewatch-host"]
        profile = read(base64.b64decode(seen.json["profileBytes"]))
        assert profile.total(metric) > 0, kind
        functions = profile.functions_seen()
        # The agent itself is not part of a profile.
        assert not [name for name in functions if "handshake" in name.lower()], kind
        if kind in {"CPU", "WALL"}:
            assert [name for name in functions if name.endswith(language.hot)], functions
            assert 1.2 < profile.duration_ns / 1e9 < 4, kind
        if kind == "CPU":
            hot_ns = sum(
                sample.values[1]  # samples, cpu
                for sample in profile.samples
                if any(frame.function.endswith(language.hot) for frame in sample.frames)
            )
            assert hot_ns > profile.total("cpu") / 2


def test_agent_waits_for_the_delay_of_the_server(run: Run, server: Served) -> None:
    fake, url = server
    times: list[float] = []

    def busy(handler: object, seen: object) -> None:
        times.append(time.monotonic())
        throttled("2s")(handler, seen)  # type: ignore[arg-type]

    fake.respond_with("POST", busy)
    with run(url):
        fake.wait_for("POST", 2)
    assert 1.9 < times[1] - times[0] < 5


def test_a_rejected_key_is_reported_once_without_the_key(run: Run, server: Served) -> None:
    fake, url = server
    fake.respond_with("POST", error_response(401, "The API key is revoked", "0.1s"))
    with run(url) as program:
        fake.wait_for("POST", 1)
        program.wait_for_log("key rejected")
        assert program.process.poll() is None
        assert program.log.count("key rejected") == 1
        assert "The API key is revoked" in program.log
        assert KEY not in program.log


def test_an_upload_survives_a_short_outage(language: Language, run: Run, server: Served) -> None:
    fake, url = server
    fake.respond_with("POST", assigned(language.first_type, "0.300s"), throttled("60s"))
    fake.respond_with("PATCH", error_response(503, "busy", "0.2s"), stored)
    with run(url):
        first, second = fake.wait_for("PATCH", 2)
    assert first.body == second.body
    assert first.path == second.path


def test_a_permanent_error_drops_the_profile(language: Language, run: Run, server: Served) -> None:
    fake, url = server
    fake.respond_with("POST", assigned(language.first_type, "0.100s"), throttled("0.5s"))
    fake.respond_with("PATCH", error_response(400, "not a profile", "0.1s"), stored)
    with run(url) as program:
        fake.wait_for("POST", 3)
        assert len(fake.requests("PATCH")) == 1
        assert "not a profile" in program.log


@pytest.mark.parametrize("failure", [cut, garbage, error_response(500, "broken", "0.2s")])
def test_broken_server_does_not_stop_the_program(failure: object, run: Run, server: Served) -> None:
    fake, url = server
    fake.respond_with("POST", failure)  # type: ignore[arg-type]
    with run(url) as program:
        fake.wait_for("POST", 1)
        program.wait_for_log("not affected")
        assert program.process.poll() is None
        assert program.log.count("not affected") == 1


def test_a_type_that_was_not_offered_is_not_captured(run: Run, server: Served) -> None:
    fake, url = server
    fake.respond_with("POST", assigned("PEAK_HEAP", "0.050s"))
    with run(url) as program:
        fake.wait_for("POST", 1)
        program.wait_for_log("not offered")
        assert "not offered" in program.log
        assert fake.requests("PATCH") == []


def test_missing_url_is_logged_in_one_line_and_the_program_runs(run: Run) -> None:
    with run("") as program:
        program.wait_for_log("FLAMEWATCH_URL")
        assert program.process.poll() is None
        assert len(program.log.splitlines()) == 1


def test_the_program_ends_at_once_during_a_handshake(
    language: Language, run: Run, server: Served
) -> None:
    fake, url = server
    fake.respond_with("POST", lambda handler, _: handler.fake.closing.wait(60))
    with run(url) as program:
        fake.wait_for("POST", 1)
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(5) == language.exit_code
