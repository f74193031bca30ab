"""One-shot mode, flamewatch-run --once: a profile in a file, without a server."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from pprof_reader import ReadProfile, read
from programs import SOURCE

PROGRAM = """
    import sys, threading, time
    def work():
        end = time.thread_time() + 0.4
        while time.thread_time() < end:
            pass
    gate = threading.Event()
    def waits():
        gate.wait()
    thread = threading.Thread(target=waits)
    thread.start()
    work()
    {more}
    gate.set()
    thread.join()
    print(sys.argv[1:])
"""


def once(
    folder: Path, *options: str, program: str = PROGRAM, more: str = ""
) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(program.format(more=more)))
    ours = {name: value for name, value in os.environ.items() if not name.startswith("FLAMEWATCH")}
    command = [sys.executable, "-m", "flamewatch.run", *options]
    return subprocess.run(
        [*command, "--", sys.executable, str(script), "an argument"],
        env=ours | {"PYTHONPATH": SOURCE},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def written(path: Path) -> ReadProfile:
    return read(path.read_bytes())


def test_profile_is_written_and_its_top_functions_are_printed(tmp_path: Path) -> None:
    done = once(tmp_path, "--once", "cpu", "-o", "out.pb.gz")
    assert (done.returncode, done.stdout) == (0, "['an argument']\n")
    found = written(tmp_path / "out.pb.gz")
    assert found.default_metric == "cpu"
    assert found.total("cpu") > 0.3e9
    assert found.duration_ns > 0.4e9
    first, head, top, *_ = done.stderr.splitlines()
    assert first.startswith("flamewatch-run: CPU profile, ")
    assert first.endswith(f" s written to {tmp_path}/out.pb.gz")
    assert head.split() == ["self", "total", "function"]
    assert top.endswith("  work")


def test_wall_time_is_of_all_threads(tmp_path: Path) -> None:
    once(tmp_path, "--once", "WALL")
    found = written(tmp_path / "wall.pb.gz")
    assert {"work", "waits"} <= found.functions_seen()
    assert found.total("wall") > 1.5 * found.duration_ns


def test_threads_profile_counts_each_thread_once(tmp_path: Path) -> None:
    wait = "import pathlib\n    while not pathlib.Path('threads.pb.gz').exists(): time.sleep(0.01)"
    done = once(tmp_path, "--once", "threads", "--duration", "0.1", more=wait)
    assert done.returncode == 0, done.stderr
    found = written(tmp_path / "threads.pb.gz")
    assert found.total("thread") == 2


@pytest.mark.parametrize(
    ("kind", "metric"), [("heap", "inuse_space"), ("heap_alloc", "alloc_space")]
)
def test_memory_is_counted_from_the_start_to_the_end(
    tmp_path: Path, kind: str, metric: str
) -> None:
    more = (
        "def allocate(): return [bytearray(1 << 20) for _ in range(200)]\n    blocks = allocate()"
    )
    done = once(tmp_path, "--once", kind, more=more)
    found = written(tmp_path / f"{kind}.pb.gz")
    assert found.default_metric == metric, done.stderr
    assert found.total(metric) > 100 << 20
    assert "allocate" in found.functions_seen()
    assert "MiB" in done.stderr


def test_waits_for_locks_are_counted_from_the_start_to_the_end(tmp_path: Path) -> None:
    more = """
    lock = threading.Lock()
    def wants():
        with lock: pass
    lock.acquire()
    wanting = threading.Thread(target=wants)
    wanting.start()
    time.sleep(0.2)
    lock.release()
    wanting.join()
    """
    done = once(tmp_path, "--once", "contention", more=more)
    found = written(tmp_path / "contention.pb.gz")
    assert found.default_metric == "delay", done.stderr
    assert found.total("delay") > 0.15e9
    assert "wants" in found.functions_seen()


def test_profile_is_written_after_its_duration_while_the_program_runs(tmp_path: Path) -> None:
    wait = "import pathlib\n    while not pathlib.Path('wall.pb.gz').exists(): time.sleep(0.01)"
    done = once(tmp_path, "--once", "wall", "--duration", "0.2", more=wait)
    assert done.stdout == "['an argument']\n"
    assert written(tmp_path / "wall.pb.gz").duration_ns >= 0.2e9


def test_profile_is_written_once_after_chdir_and_fork(tmp_path: Path) -> None:
    more = """
    import os
    os.chdir("/")
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    sys.stdout.flush()
    """
    done = once(tmp_path, "--once", "cpu", more=more)
    assert done.stderr.count("CPU profile") == 1
    assert "work" in written(tmp_path / "cpu.pb.gz").functions_seen()


@pytest.mark.slow
def test_an_error_and_an_interrupt_of_the_program_still_write_it(tmp_path: Path) -> None:
    for end, code in (("1 / 0", 1), ("import os; os.kill(os.getpid(), 2)", -signal.SIGINT)):
        target = tmp_path / f"{code}.pb.gz"
        wrapped = f"try:\n        {end}\n    finally:\n        gate.set()"
        done = once(tmp_path, "--once", "cpu", "-o", str(target), more=wrapped)
        assert done.returncode == code
        assert "work" in written(target).functions_seen()


def test_programs_that_it_starts_write_nothing(tmp_path: Path) -> None:
    more = "import subprocess; subprocess.run([sys.executable, '-c', '0'], check=True)"
    done = once(tmp_path, "--once", "cpu", more=more)
    assert done.stderr.count("CPU profile") == 1


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--once", "heat"], "invalid choice"),
        (["--once", "cpu", "-o", "no/such/folder/out"], "no such folder"),
        (["--once", "cpu", "--duration", "-1"], "is not between"),
        (["--once", "cpu", "--duration", "long"], "invalid"),
    ],
)
def test_an_impossible_option_is_a_usage_error(
    tmp_path: Path, options: list[str], why: str
) -> None:
    done = once(tmp_path, *options)
    assert done.returncode == 2
    assert why in done.stderr
    assert done.stdout == ""


def test_unwritable_file_is_reported_and_keeps_the_exit_code(tmp_path: Path) -> None:
    done = once(tmp_path, "--once", "cpu", "-o", "/dev/full")
    assert (done.returncode, done.stdout) == (0, "['an argument']\n")
    assert "no profile was written: OSError" in done.stderr
