"""Agent in the process of the tests, with a server on loopback."""

import base64
import logging
import os
import random
import signal
import threading
import time
from collections.abc import Callable

import pytest
from fake_server import (
    TIMEOUT,
    FakeServer,
    assigned,
    error_response,
    never_responds,
    serving,
    throttled,
)
from fakes import KEY
from pprof_reader import read

import flamewatch
from flamewatch.process import lifecycle

pytestmark = pytest.mark.usefixtures("environment")


def test_start_with_environment_only_sends_a_profile(server: FakeServer) -> None:
    server.respond_with("POST", assigned("THREADS"), never_responds)
    flamewatch.start()
    [upload] = server.wait_for("PATCH")
    assert upload.json["deployment"]["target"] == "checkout"
    assert upload.json["labels"]["instance"] == upload.headers["x-flamewatch-host"]
    server.wait_for("POST", 2)
    status = flamewatch.status()
    assert (status["state"], status["profiles_sent"]) == ("waiting", 1)
    assert status["agent"] == upload.agent
    assert status["samples"] >= 1


def test_arguments_override_the_environment(server: FakeServer) -> None:
    server.respond_with("POST", never_responds)
    flamewatch.start("basket", "2.0", "eu-2", project="acme")
    [seen] = server.wait_for("POST")
    assert seen.path == "/v2/projects/acme/profiles"
    assert seen.json["deployment"] == {
        "projectId": "acme",
        "target": "basket",
        "labels": {"language": "python", "version": "2.0", "zone": "eu-2"},
    }


def test_starting_does_not_wait_for_the_server(server: FakeServer) -> None:
    server.respond_with("POST", never_responds)
    flamewatch.start()
    assert flamewatch.status()["profiles_sent"] == 0
    server.wait_for("POST")


def test_a_second_start_changes_nothing(server: FakeServer, lines: list[str]) -> None:
    server.respond_with("POST", never_responds)
    flamewatch.start()
    flamewatch.start("another")
    server.wait_for("POST")
    assert flamewatch.status()["service"] == "checkout"
    flamewatch.stop()
    assert len(server.seen) == 1
    assert lines == []


def test_concurrent_starts_start_one_agent(server: FakeServer) -> None:
    server.respond_with("POST", never_responds)
    threads = [threading.Thread(target=flamewatch.start) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.wait_for("POST")
    flamewatch.stop()
    assert server.connections == 1


def test_agent_is_stopped_and_started_again(server: FakeServer) -> None:
    server.respond_with("POST", never_responds)
    agents = set()
    for count in range(1, 4):
        flamewatch.start()
        agents.add(server.wait_for("POST", count)[-1].agent)
        flamewatch.stop()
        assert flamewatch.status()["state"] == "stopped"
    assert len(agents) == 3


def test_stop_without_a_start_changes_nothing() -> None:
    before = flamewatch.status()
    flamewatch.stop()
    flamewatch.stop()
    assert flamewatch.status() == before


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in signal.valid_signals()]


def test_stop_ends_threads_and_restores_signal_handlers(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "STOP_SECONDS", 20)  # seconds that a busy machine may need
    threads, before = {*threading.enumerate()}, (handlers(), threading.stack_size())
    tasks = threads_of_this_process()
    server.respond_with("POST", assigned("CPU", "60s"))
    flamewatch.start()
    server.wait_for("POST")
    wait_for_state("capturing")
    flamewatch.stop()
    assert (handlers(), threading.stack_size()) == before
    # The fake server's threads end by themselves, also those of earlier tests.
    wait_until(lambda: {*threading.enumerate()} <= threads and threads_of_this_process() <= tasks)
    [upload] = server.requests("PATCH")
    assert upload.json["duration"] != "60s"


def threads_of_this_process() -> int:
    """Return the number of threads as the kernel counts them."""
    return len(os.listdir("/proc/self/task"))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, flamewatch.status()
        time.sleep(0.002)


def wait_for_state(state: str) -> None:
    wait_until(lambda: flamewatch.status()["state"] == state)


@pytest.mark.parametrize(
    ("variable", "value", "part"),
    [
        ("FLAMEWATCH_KEY", "", "FLAMEWATCH_KEY"),
        ("FLAMEWATCH_URL", "nonsense", "nonsense"),
        ("FLAMEWATCH_SERVICE", "", "FLAMEWATCH_SERVICE"),
    ],
)
def test_bad_configuration_is_logged_in_one_line_without_a_request(
    monkeypatch: pytest.MonkeyPatch,
    lines: list[str],
    server: FakeServer,
    variable: str,
    value: str,
    part: str,
) -> None:
    monkeypatch.setenv(variable, value)
    flamewatch.start()
    [line] = lines
    assert line.startswith("flamewatch: not profiling: ")
    assert part in line
    assert KEY not in line
    assert flamewatch.status()["state"] == "off"
    assert part in flamewatch.status()["reason"]
    assert server.seen == []


def test_start_succeeds_after_a_failed_start_with_bad_configuration(
    monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    monkeypatch.delenv("FLAMEWATCH_SERVICE")
    flamewatch.start()
    flamewatch.start(service="basket")
    assert server.wait_for("POST")[0].json["deployment"]["target"] == "basket"


def test_rejected_key_is_logged_in_one_line(server: FakeServer, lines: list[str]) -> None:
    server.respond_with("POST", error_response(401, "There is no such key.", "60s"))
    flamewatch.start()
    server.wait_for("POST")
    wait_for_state("backing off")
    [line] = lines
    assert "API key rejected" in line
    assert KEY not in line
    assert flamewatch.status()["last_error"] in line
    assert 30 < flamewatch.status()["next_try_in"] <= 66


def test_unreachable_server_is_logged_in_one_line(
    monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> None:
    with serving() as (_, gone):
        pass
    monkeypatch.setenv("FLAMEWATCH_URL", gone)
    flamewatch.start()
    wait_for_state("backing off")
    flamewatch.stop()
    [line] = lines
    assert f"cannot send profiles to {gone}: connection refused (retry in " in line


def test_failing_log_handler_does_not_end_the_agent(server: FakeServer) -> None:
    class Broken(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            raise RuntimeError("the disk is full")

    server.respond_with("POST", error_response(403), throttled("0.01s"))
    broken = Broken()
    logging.getLogger("flamewatch").addHandler(broken)
    try:
        flamewatch.start()
        server.wait_until(lambda seen: len(seen) >= 1)
        wait_for_state("backing off")
    finally:
        logging.getLogger("flamewatch").removeHandler(broken)


def test_failed_thread_start_is_logged_in_one_line(
    monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> None:
    def fail_to_start(target: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("flamewatch.unpatched.start_thread", fail_to_start)
    flamewatch.start()
    assert lines == ["flamewatch: not profiling: RuntimeError: can't start new thread"]
    assert flamewatch.status()["state"] == "off"


def test_random_numbers_of_the_host_are_unchanged(server: FakeServer) -> None:
    random.seed(7)
    expected = [random.random() for _ in range(3)]
    random.seed(7)
    flamewatch.start()
    server.wait_for("POST", 3)
    assert [random.random() for _ in range(3)] == expected


def test_the_agents_own_thread_is_in_no_profile(server: FakeServer) -> None:
    server.respond_with("POST", assigned("WALL", "0.2s"), assigned("THREADS"), never_responds)
    flamewatch.start()
    for upload in server.wait_for("PATCH", 2):
        found = read(base64.b64decode(upload.json["profileBytes"]))
        assert found.samples
        assert not [name for name in found.functions_seen() if name.startswith("flamewatch.")]


def test_version_is_set_and_sampler_is_empty_before_the_start(server: FakeServer) -> None:
    assert flamewatch.__version__
    assert lifecycle.status()["sampler"] == ""
