"""The Java agent's files, other recordings in the process, and stacks of waiting threads."""

import base64
import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from example_program import Run
from fake_server import FakeServer, Seen, assigned, throttled
from languages import JAVA, Language
from pprof_reader import ReadProfile, read

pytestmark = pytest.mark.server

Served = tuple[FakeServer, str]
CAPTURES = 5
MOST_OF_A_CORE = 0.05
HOURS_AGO = time.time() - 7200


@pytest.fixture
def language() -> Language:
    return JAVA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of temporary files of the JVM."""
    path = tmp_path / "tmp"
    path.mkdir()
    return path


def java_options(folder: Path, *options: str) -> dict[str, str]:
    return {"JDK_JAVA_OPTIONS": " ".join([f"-Djava.io.tmpdir={folder}", *options])}


def read_profile(upload: Seen) -> ReadProfile:
    return read(base64.b64decode(upload.json["profileBytes"]))


def test_a_killed_program_leaves_no_files(run: Run, server: Served, folder: Path) -> None:
    fake, url = server
    fake.respond_with("POST", assigned("CPU", "0.500s"), assigned("CPU", "60s"))
    with run(url, **java_options(folder)) as program:
        fake.wait_for("PATCH", 1)
        fake.wait_for("POST", 2)
        time.sleep(1)  # the second capture has begun
        program.process.kill()
        program.process.wait()
    assert [path.name for path in folder.iterdir() if "hsperf" not in path.name] == []


def test_old_recordings_of_killed_agents_are_deleted(
    run: Run, server: Served, folder: Path
) -> None:
    fake, url = server
    fake.respond_with("POST", assigned("CPU", "0.500s"), throttled("60s"))
    old, target = folder / "flamewatch-1.jfr", folder / "target"
    retained = [folder / name for name in ("flamewatch-2.jfr", "other-1.jfr", "target")]
    for path in (old, *retained):
        path.write_bytes(b"")
    for path in (old, *retained[1:]):
        os.utime(path, (HOURS_AGO, HOURS_AGO))
    link = folder / "flamewatch-3.jfr"
    link.symlink_to(target)
    os.utime(link, (HOURS_AGO, HOURS_AGO), follow_symlinks=False)
    with run(url, **java_options(folder)):
        fake.wait_for("PATCH", 1)
    assert not old.exists()
    assert all(path.exists() for path in retained)
    assert link.is_symlink()


@pytest.mark.parametrize("kind", ["CPU", "CONTENTION"])
def test_a_recording_of_the_program_is_not_disturbed(
    kind: str, run: Run, server: Served, folder: Path
) -> None:
    fake, url = server
    fake.respond_with("POST", assigned(kind, "1.500s"), throttled("60s"))
    own = folder / "own.jfr"
    options = java_options(folder, f"-XX:StartFlightRecording=filename={own},settings=profile")
    with run(url, **options) as program:
        [upload] = fake.wait_for("PATCH", 1)
        program.process.send_signal(signal.SIGTERM)
        program.process.wait(20)
    profile = read_profile(upload)
    assert profile.total(JAVA.types[kind]) > 0
    assert any(name.startswith("Example.") for name in profile.functions_seen())
    assert own.stat().st_size > 0


@pytest.mark.parametrize("kind", ["CPU", "CONTENTION"])
def test_capture_is_repeated_when_a_recording_of_the_program_begins_in_it(
    kind: str, run: Run, server: Served, folder: Path
) -> None:
    fake, url = server
    fake.respond_with("POST", assigned(kind, "3s"), throttled("60s"))
    with run(url, **java_options(folder)) as program:
        fake.wait_for("POST", 1)
        time.sleep(1)  # the capture has begun
        jcmd = ["jcmd", str(program.process.pid), "JFR.start", f"filename={folder / 'own.jfr'}"]
        subprocess.run(jcmd, check=True, capture_output=True, timeout=60)
        [upload] = fake.wait_for("PATCH", 1)
    profile = read_profile(upload)
    assert any(name.startswith("Example.") for name in profile.functions_seen())
    assert profile.duration_ns == pytest.approx(3e9, rel=0.2)


def test_waiting_threads_count_in_each_sample(run: Run, server: Served, folder: Path) -> None:
    fake, url = server
    fake.respond_with("POST", assigned("WALL", "2s"), throttled("60s"))
    with run(url, **java_options(folder)):
        [upload] = fake.wait_for("PATCH", 1)
    profile = read_profile(upload)
    waiting = sum(
        sample.values[1]
        for sample in profile.samples
        if any("Finalizer" in frame.function for frame in sample.frames)
    )
    assert waiting == pytest.approx(profile.duration_ns, rel=0.01)


def test_flight_recorder_sleeps_between_captures(run: Run, server: Served, folder: Path) -> None:
    fake, url = server
    fake.respond_with("POST", assigned("CPU", "0.500s"), throttled("60s"))
    with run(url, **java_options(folder)) as program:
        fake.wait_for("PATCH", 1)
        fake.wait_for("POST", 2)
        before = wakings("JFR Periodic", program.process.pid)
        time.sleep(4)
        after = wakings("JFR Periodic", program.process.pid)
    assert after - before <= 10


@pytest.mark.measurement
@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["CPU", "WALL"])
def test_captures_that_never_end_use_little_of_a_core(
    kind: str, run: Run, server: Served, folder: Path
) -> None:
    """Sum the CPU time of the threads of the agent and the JVM, after the first capture.

    The garbage collector is left out; compilers and JFR count. The machine's load matters little.
    """
    fake, url = server
    fake.respond_with("POST", assigned(kind, "10s"))
    with run(url, **java_options(folder)) as program:
        pid = program.process.pid
        fake.wait_for("PATCH", 1)
        first, start = cpu_of_threads(pid), time.monotonic()
        for uploads in range(2, CAPTURES + 1):
            fake.wait_for("PATCH", uploads)
        last, seconds = cpu_of_threads(pid), time.monotonic() - start
    used = {name: cpu - first.get(name, 0) for name, cpu in last.items()}
    foreign = ("Thread-", "GC ", "G1 ")  # the program's, and the collector's
    share = sum(cpu for name, cpu in used.items() if not name.startswith(foreign)) / seconds
    largest = sorted(used.items(), key=lambda item: -item[1])[:6]
    print(f"{kind}: {100 * share:.2f} % of a core; {largest}")
    assert share < MOST_OF_A_CORE


def cpu_of_threads(pid: int) -> dict[str, float]:
    """Return the CPU seconds of a process's threads by their name, which Linux cuts."""
    seconds: dict[str, float] = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # the thread ended
            name = (task / "comm").read_text().strip()
            nanoseconds = int((task / "schedstat").read_text().split()[0])
            seconds[name] = seconds.get(name, 0) + nanoseconds / 1e9
    return seconds


def wakings(thread: str, pid: int) -> int:
    """Return how often the threads of this name went to sleep."""
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().startswith(thread):
            status = (task / "status").read_text()
            found += int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[0])
    return found
