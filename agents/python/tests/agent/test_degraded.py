"""Where the native sampler may not work: one warning, and what is left is true."""

import subprocess
from pathlib import Path

import pytest
from fake_server import FakeServer, assigned, held
from interpreters import program
from programs import SOURCE, run

SECCOMP = str(Path(__file__).parents[1] / "native" / "programs")
DEBUG = program("python3.14-dbg")

MAIN_THREAD = """
    import flamewatch, sys, time
    {before}
    def burn(end):
        while time.thread_time() < end:
            pass
    flamewatch.start()
    print(flamewatch.status()["types"], flamewatch.status()["sampler"])
    while not flamewatch.status()["profiles_sent"]:
        burn(time.thread_time() + 0.01)
    flamewatch.stop()
"""
ONLY = "Only the main thread's CPU time and THREADS will be profiled."


@pytest.fixture(autouse=True)
def cpu_is_wanted(server: FakeServer) -> None:
    server.answer("POST", assigned("CPU", "0.2s"), held)


def check(out: str, errors: str, reason: str) -> None:
    assert out == "['CPU', 'THREADS'] signal\n"
    [line] = errors.splitlines()
    assert line.startswith(f"flamewatch: all threads cannot be sampled: {reason}")
    assert line.endswith(ONLY)


def test_a_container_that_forbids_to_read_memory(server: FakeServer, url: str) -> None:
    before = f"sys.path.insert(0, {SECCOMP!r}); import seccomp; seccomp.refuse('process_vm_readv')"
    out, errors = run(MAIN_THREAD.format(before=before), url)
    check(out, errors, "the kernel refuses process_vm_readv (Operation not permitted)")
    assert len(server.requests("PATCH")) == 1


# The one of `make interpreters`, where it was run; the report's head names what is absent.
if DEBUG.exists():

    @pytest.mark.server
    def test_a_debug_build(server: FakeServer, url: str) -> None:
        out, errors = run(MAIN_THREAD.format(before=""), url, python=str(DEBUG))
        check(out, errors, "debug builds of Python are not supported")
        assert len(server.requests("PATCH")) == 1

    @pytest.mark.server
    def test_one_profile_of_a_debug_build(tmp_path: Path) -> None:
        python = str(DEBUG)
        command = [python, "-m", "flamewatch.run", "--once", "wall", "--", python, "-c", "print(7)"]
        done = subprocess.run(
            command,
            env={"PYTHONPATH": SOURCE},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "7\n"
        assert "no WALL profile can be captured in this interpreter" in done.stderr
