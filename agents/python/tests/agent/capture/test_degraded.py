"""Fallback where the native sampler does not work: one warning, and only correct profiles."""

from pathlib import Path

import families
import pytest
from fake_server import FakeServer, assigned, never_responds
from interpreters import program as interpreter
from programs import SOURCE, run

SECCOMP = str(Path(__file__).parents[2] / "native" / "programs")

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
ONLY = "flamewatch: reduced profiling, only the main thread's CPU time and THREADS"


@pytest.fixture(autouse=True)
def cpu_is_wanted(server: FakeServer) -> None:
    server.respond_with("POST", assigned("CPU", "0.2s"), never_responds)


def check(out: str, errors: str, reason: str) -> None:
    assert out == "['CPU', 'THREADS'] signal\n"
    [line] = errors.splitlines()
    assert line.startswith(f"{ONLY}: {reason}")


def test_denied_memory_reads_leave_the_signal_sampler(server: FakeServer, url: str) -> None:
    before = f"sys.path.insert(0, {SECCOMP!r}); import seccomp; seccomp.deny('process_vm_readv')"
    out, errors = run(MAIN_THREAD.format(before=before), url)
    check(out, errors, "the kernel refuses process_vm_readv (Operation not permitted)")
    assert len(server.requests("PATCH")) == 1


def test_free_threaded_build_does_not_load_the_native_sampler(server: FakeServer, url: str) -> None:
    after = "assert 'flamewatch._native' not in sys.modules"
    program = MAIN_THREAD.format(before=after).replace(
        "import flamewatch, sys, time", "import sys, time; sys.abiflags = 't'; import flamewatch"
    )
    out, errors = run(program, url)
    check(out, errors, "free-threaded builds of Python are not supported")
    assert len(server.requests("PATCH")) == 1


# Interpreters of `make interpreters`, if it was run; the header of the test report lists missing
# ones.
UNSUITABLE = {
    name: reason
    for name, reason in (
        ("python3.14-dbg", "debug builds of Python are not supported"),
        ("python3.14-nogil", "free-threaded builds of Python are not supported"),
    )
    if interpreter(name).exists()
}

if UNSUITABLE:

    @pytest.mark.server
    @pytest.mark.parametrize("name", UNSUITABLE)
    def test_unsuitable_build_falls_back_with_a_warning(
        server: FakeServer, url: str, name: str
    ) -> None:
        out, errors = run(MAIN_THREAD.format(before=""), url, python=str(interpreter(name)))
        check(out, errors, UNSUITABLE[name])
        assert len(server.requests("PATCH")) == 1

    @pytest.mark.server
    @pytest.mark.parametrize("name", UNSUITABLE)
    def test_one_shot_mode_on_an_unsuitable_build_runs_the_program_with_a_warning(
        tmp_path: Path, name: str
    ) -> None:
        python = str(interpreter(name))
        command = [python, "-m", "flamewatch.run", "--once", "wall", "--", python, "-c", "print(7)"]
        done = families.run(command, env={"PYTHONPATH": SOURCE}, cwd=tmp_path, timeout=60)
        assert (done.returncode, done.stdout) == (0, "7\n")
        assert "this interpreter cannot capture WALL profiles" in done.stderr
