"""Process exit, which the agent delays by less than a second."""

import base64
import time

import pytest
from fake_server import FakeServer, assigned, never_responds
from pprof_reader import read
from programs import begin, run

# Far shorter than parked requests and captures; the agent's own bound is one second.
SOON = 20.0

UNTIL_TOLD = """
    import sys, flamewatch
    flamewatch.start()
    sys.stdin.readline()
"""


def seconds_to_end(program: str, url: str, server: FakeServer, ready: str = "POST") -> float:
    process = begin(program, url)
    server.wait_for(ready)
    begun = time.monotonic()
    _, errors = process.communicate("go\n", timeout=60)
    assert process.returncode == 0, errors
    assert errors == ""
    return time.monotonic() - begun


def test_process_exits_while_a_handshake_is_parked(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    assert seconds_to_end(UNTIL_TOLD, url, server) < SOON


@pytest.mark.slow
def test_process_exits_while_an_upload_is_pending(server: FakeServer, url: str) -> None:
    server.respond_with("POST", assigned("THREADS"))
    server.respond_with("PATCH", never_responds)
    assert seconds_to_end(UNTIL_TOLD, url, server, "PATCH") < SOON


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["CPU", "WALL"])
def test_process_exits_during_a_capture(server: FakeServer, url: str, kind: str) -> None:
    server.respond_with("POST", assigned(kind, "60s"))
    server.respond_with("PATCH", never_responds)
    assert seconds_to_end(UNTIL_TOLD, url, server) < SOON


@pytest.mark.parametrize("kind", ["CPU", "WALL"])
def test_exit_during_a_capture_sends_the_partial_profile(
    server: FakeServer, url: str, kind: str
) -> None:
    """Profile a program that ends before its capture does."""
    server.respond_with("POST", assigned(kind, "60s"))
    program = """
        import flamewatch, time
        def work():
            end = time.thread_time() + 0.3
            while time.thread_time() < end:
                pass
        flamewatch.process.lifecycle.STOP_SECONDS = 20  # as many as a busy machine may need
        flamewatch.start()
        while flamewatch.status()["state"] != "capturing":
            time.sleep(0.001)
        work()
    """
    _, errors = run(program, url)
    [seen] = server.requests("PATCH")
    found = read(base64.b64decode(seen.json["profileBytes"]))
    assert "work" in found.functions_seen()
    assert 0.2e9 < found.duration_ns < 60e9
    reported_seconds = float(seen.json["duration"].removesuffix("s"))
    assert reported_seconds == pytest.approx(found.duration_ns / 1e9, abs=0.001)
    assert errors == ""


def test_process_exits_right_after_the_start_of_the_agent(url: str, server: FakeServer) -> None:
    server.respond_with("POST", never_responds)
    for _ in range(5):
        _, errors = run("import flamewatch; flamewatch.start()", url)
        assert errors == ""


def test_threads_of_the_host_are_profiled_until_they_end(url: str, server: FakeServer) -> None:
    server.respond_with("POST", assigned("WALL", "0.2s"), never_responds)
    program = """
        import flamewatch, threading, sys
        def work():
            sys.stdin.readline()
        threading.Thread(target=work).start()
        flamewatch.start()
    """
    process = begin(program, url)
    server.wait_for("PATCH")
    process.communicate("go\n", timeout=60)
    assert process.returncode == 0


def test_a_signal_that_the_host_waits_for_is_not_taken_from_it(
    server: FakeServer, url: str
) -> None:
    server.respond_with("POST", never_responds)
    program = """
        import flamewatch, os, signal, sys
        flamewatch.start()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
        sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert {signal.sigwait({n}) for n in (signal.SIGTERM, signal.SIGUSR1)} == {15, 10}
    """
    assert seconds_to_end(program, url, server) < SOON


def test_the_exit_code_is_the_hosts(url: str) -> None:
    process = begin("import flamewatch, sys; flamewatch.start(); sys.exit(7)", url)
    process.communicate(timeout=60)
    assert process.returncode == 7


def test_without_logging_set_up_the_line_is_on_stderr(url: str) -> None:
    _, errors = run("import flamewatch; flamewatch.start(service='')", url)
    assert errors == (
        "flamewatch: not profiling: no service name: "
        "set FLAMEWATCH_SERVICE or pass start(service=…)\n"
    )


def test_a_logging_set_up_later_shows_lines_too(url: str) -> None:
    program = """
        import flamewatch, logging.config
        logging.config.dictConfig({
            "version": 1, "handlers": {"h": {"class": "logging.StreamHandler"}},
            "root": {"handlers": ["h"]},
        })
        flamewatch.start(service="")
    """
    _, errors = run(program, url)
    assert errors.startswith("flamewatch: not profiling")
