"""Agent in real servers, started with their usual options."""

import sys
from pathlib import Path

import pytest
from fake_server import FakeServer, assigned
from hosts import all_labels_of, busy, hosted, labels_of, tasks, wait_for_profiles, wait_until

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

BURN = "host_apps.burn"
GUNICORN = (sys.executable, "-m", "gunicorn", "--bind", "unix:{socket}", "--workers", "2")
UVICORN = (sys.executable, "-m", "uvicorn", "--uds", "{socket}", "--log-level", "warning")
UWSGI = (
    *(sys.executable.replace("python", "pyuwsgi"), "--http-socket", "{socket}", "--master"),
    *("--die-on-term", "--need-app", "--processes", "2", "--disable-logging"),
    *("--module", "host_apps:bare"),
)
CELERY = (
    *(sys.executable, "-m", "celery", "-A", "host_celery", "worker"),
    *("--pool", "prefork", "--concurrency", "2", "--without-mingle", "--without-gossip"),
)


def script(name: str) -> str:
    return str(Path(__file__).with_name(name))


@pytest.fixture(autouse=True)
def cpu_is_wanted(server: FakeServer) -> None:
    server.respond_with("POST", assigned("CPU", "0.5s"))


@pytest.mark.parametrize(
    "worker", [["sync"], ["gthread", "--threads", "4"], ["gevent"]], ids=lambda worker: worker[0]
)
def test_gunicorn_workers_are_profiled_with_endpoints(
    server: FakeServer, url: str, worker: list[str]
) -> None:
    with hosted(url, *GUNICORN, "--worker-class", *worker, "host_apps:wsgi") as host, busy(host):
        for profile in wait_for_profiles(server, BURN, agents=2, host=host):
            assert (("endpoint", "/orders/<int:number>"),) in labels_of(profile, BURN)


def test_gunicorn_workers_are_profiled_with_preload(server: FakeServer, url: str) -> None:
    with hosted(url, *GUNICORN, "--preload", "host_apps:wsgi") as host, busy(host):
        wait_for_profiles(server, BURN, agents=2, host=host)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_uvicorn_is_profiled(server: FakeServer, url: str, loop: str) -> None:
    with hosted(url, *UVICORN, "--loop", loop, "host_apps:asgi") as host, busy(host):
        wait_for_profiles(server, BURN, host=host)


def test_uvicorn_workers_are_profiled(server: FakeServer, url: str) -> None:
    with hosted(url, *UVICORN, "--workers", "2", "host_apps:asgi") as host, busy(host):
        wait_for_profiles(server, BURN, agents=2, host=host)


@pytest.mark.parametrize("options", [[], ["--threads", "2"]], ids=["processes", "threads"])
def test_uwsgi_workers_are_profiled(server: FakeServer, url: str, options: list[str]) -> None:
    with hosted(url, *UWSGI, *options) as host, busy(host):
        wait_for_profiles(server, BURN, agents=2, host=host)


def test_uwsgi_workers_are_profiled_if_each_loads_the_program(server: FakeServer, url: str) -> None:
    with hosted(url, *UWSGI, "--lazy-apps") as host, busy(host):
        wait_for_profiles(server, BURN, agents=1, host=host)  # one may serve all requests
        # uWSGI interrupts a worker that is loading with an exception, or never stops it.
        wait_until(lambda: host.output.count("WSGI app 0") == 2, host)


def test_uwsgi_workers_are_profiled_if_the_program_starts_the_agent(
    server: FakeServer, url: str
) -> None:
    hooks = ("--enable-threads", "--py-call-uwsgi-fork-hooks")
    program = ("--module", "host_started:bare")
    with hosted(url, *UWSGI, *hooks, *program, run=False) as host, busy(host):
        wait_for_profiles(server, BURN, agents=2, host=host)


def test_celery_workers_are_profiled(server: FakeServer, url: str) -> None:
    with hosted(url, *CELERY) as host, tasks(host):
        wait_for_profiles(server, BURN, agents=2, host=host)


def test_fully_patched_gevent_is_profiled_with_labels_of_each_greenlet(
    server: FakeServer, url: str
) -> None:
    """The agent's thread waits in system calls, and not in an event loop."""
    with hosted(url, sys.executable, "-u", script("host_gevent.py")) as host:
        both = {(("job", "first"),), (("job", "second"),)}
        wait_until(lambda: all_labels_of(server, BURN) >= both, host)
        assert all_labels_of(server, BURN) == both
        wait_until(lambda: "alive" in host.output, host)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_workers_are_profiled(server: FakeServer, url: str, method: str) -> None:
    program = script("host_multiprocessing.py")
    with hosted(url, sys.executable, program, method) as host:
        wait_for_profiles(server, BURN, agents=3, host=host)


def test_program_is_profiled_after_exec(server: FakeServer, url: str) -> None:
    become = f"import os, sys; os.execv(sys.executable, ['python', {script('host_loop.py')!r}])"
    with hosted(url, sys.executable, "-c", become) as host:
        wait_for_profiles(server, BURN, host=host)


def test_agent_started_in_another_thread_of_an_embedding_program_profiles_it(
    server: FakeServer, url: str
) -> None:
    with hosted(url, sys.executable, script("host_thread.py"), run=False) as host:
        wait_for_profiles(server, BURN, host=host)


def test_subinterpreters_are_not_sampled(server: FakeServer, url: str) -> None:
    with hosted(url, sys.executable, "-u", script("host_subinterpreters.py")) as host:
        [profile] = wait_for_profiles(server, BURN, host=host)
        assert "inside" not in profile.functions_seen()
        wait_until(lambda: "alive" in host.output, host)
