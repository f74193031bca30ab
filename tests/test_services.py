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
def test_failed_download_is_retried(tmp_path: Path, failures: int) -> None:
    assert fetch(tmp_path, failures) == failures + 1


def test_download_that_fails_3_times_names_command_and_output(tmp_path: Path) -> None:
    with pytest.raises(
        services.ServiceMissing, match=r"(?s)`sh -c .*no mirror.*Tried 3 times"
    ) as raised:
        fetch(tmp_path, 9)
    assert "ended with 1" in str(raised.value)


def programs(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Leave only these programs on the PATH, each one without any effect."""
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    ("present", "used"),
    [
        (["chromium", "chromium-headless-shell"], "chromium-headless-shell"),
        (["chromium"], "chromium"),
    ],
)
def test_pages_are_shown_by_the_headless_shell_or_the_whole_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: list[str], used: str
) -> None:
    programs(tmp_path, monkeypatch, *present)
    assert services.browser() == str(tmp_path / used)


def test_without_any_chromium_the_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs(tmp_path, monkeypatch)
    with pytest.raises(services.ServiceMissing, match="chromium-headless-shell or chromium"):
        services.browser()


@pytest.mark.parametrize(
    ("exit_code", "installed"), [(0, "chromium-headless-shell"), (100, "chromium")]
)
def test_a_distribution_without_the_headless_shell_gets_the_whole_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exit_code: int, installed: str
) -> None:
    programs(tmp_path, monkeypatch, "apt-get", "apt-cache")
    (tmp_path / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n')
    (tmp_path / "apt-cache").write_text(f"#!/bin/sh\nexit {exit_code}\n")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    services._install(["chromium-headless-shell"])
    update, install = (tmp_path / "calls").read_text().splitlines()
    assert update.startswith("update ")
    assert f" {installed} " in install


@pytest.mark.real
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_service_ends_when_its_parent_is_killed(tmp_path: Path, how: signal.Signals) -> None:
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
