"""Services of the tests: retried downloads, and termination with their parent."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import services
from tests.waiting import until

HOLDS_A_REDIS = """
import pathlib, sys
from tests import services
with services.redis(pathlib.Path(sys.argv[1])) as url:
    print(url, flush=True)
    sys.stdin.read()
"""


def fetch(folder: Path, failures: int) -> int:
    """Run a command that fails `failures` times at first; return the number of runs."""
    runs = folder / "runs"
    program = f"echo run >> {runs}; echo no mirror; test $(wc -l < {runs}) -gt {failures}"
    try:
        services.fetch(["sh", "-c", program], {"PATH": "/usr/bin:/bin"})
    finally:
        count = len(runs.read_text().splitlines())
    return count


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "PAUSE_SECONDS", 0.0)


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_a_fetch_that_fails_for_a_moment_is_tried_again(tmp_path: Path, failures: int) -> None:
    assert fetch(tmp_path, failures) == failures + 1


def test_one_that_fails_for_good_says_what_it_was_and_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(
        services.ServiceMissing, match=r"(?s)`sh -c .*no mirror.*Tried 3 times"
    ) as raised:
        fetch(tmp_path, 9)
    assert "ended with 1" in str(raised.value)


@pytest.mark.real
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_service_outlives_who_started_it(tmp_path: Path, how: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS_A_REDIS, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        url = holder.stdout.readline()
        holder.send_signal(how)
    port = int(url.rpartition(":")[2].partition("/")[0])
    until(lambda: not accepts_connections(port), 30, "end of the service")


def accepts_connections(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
