"""Forked children get an agent of their own, and the parent's continues undisturbed."""

import subprocess
import sys

import pytest
from fake_server import FakeServer, Seen, assigned, never_responds, throttled
from programs import begin, run

FORKED = """
    import flamewatch, os, sys
    flamewatch.start()
    {before}
    child = os.fork()
    if child == 0:
        while flamewatch.status()["state"] != "waiting":
            pass
        sys.stdin.readline()
        os._exit(0)
    sys.stdin.readline()
    os.waitpid(child, 0)
"""


def agents(seen: list[Seen]) -> set[str]:
    return {one.agent for one in seen}


def start_and_fork(server: FakeServer, url: str) -> subprocess.Popen[str]:
    """Start FORKED, which forks when its own handshake has arrived."""
    process = begin(FORKED.format(before="sys.stdin.readline()"), url)
    server.wait_for("POST")
    assert process.stdin is not None
    process.stdin.write("fork\n")
    process.stdin.flush()
    return process


def finish(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate("go\ngo\n", timeout=60)
    assert process.returncode == 0, errors
    assert errors == ""


@pytest.mark.slow
def test_forked_child_handshakes_as_an_agent_of_its_own(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    process = begin(FORKED.format(before=""), url)
    server.wait_until(lambda seen: len(agents(seen)) == 2)
    finish(process)
    assert len({seen.connection for seen in server.seen}) == 2


@pytest.mark.slow
def test_the_parents_handshake_is_not_disturbed(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    process = start_and_fork(server, url)
    server.wait_until(lambda seen: len(agents(seen)) == 2)
    finish(process)
    assert len(server.seen) == 2, "one handshake each"


@pytest.mark.slow
def test_fork_during_a_capture_leaves_the_parents_profile_complete(
    server: FakeServer, url: str
) -> None:
    server.respond_with("POST", assigned("CPU", "2s"), never_responds)
    capturing = 'while flamewatch.status()["state"] != "capturing": pass'
    process = begin(FORKED.format(before=capturing), url)
    server.wait_until(lambda seen: len(agents(seen)) == 2)
    [upload] = server.wait_for("PATCH")
    assert upload.agent == server.seen[0].agent, "the parent's capture went on"
    finish(process)


@pytest.mark.slow
def test_a_child_is_profiled_itself(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds, assigned("CPU", "0.2s"), never_responds)
    process = start_and_fork(server, url)
    [upload] = server.wait_for("PATCH")
    assert upload.agent != server.seen[0].agent
    finish(process)


def test_child_of_a_stopped_agent_has_no_agent(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    program = """
        import flamewatch, os
        flamewatch.start()
        flamewatch.stop()
        child = os.fork()
        if child == 0:
            os._exit(0 if flamewatch.status()["state"] == "stopped" else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    run(program, url)


def test_a_child_can_stop_its_own_agent(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    program = """
        import flamewatch, os
        flamewatch.start()
        child = os.fork()
        if child == 0:
            flamewatch.stop()
            os._exit(0 if flamewatch.status()["state"] == "stopped" else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert flamewatch.status()["state"] != "stopped"
    """
    run(program, url)


@pytest.mark.slow
def test_multiprocessing_workers_are_profiled(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    program = """
        import flamewatch, multiprocessing, sys
        flamewatch.start()
        def work(gate):
            gate.wait()
        context = multiprocessing.get_context("fork")
        gate = context.Event()
        workers = [context.Process(target=work, args=(gate,)) for _ in range(3)]
        for worker in workers:
            worker.start()
        sys.stdin.readline()
        gate.set()
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
    """
    process = begin(program, url)
    server.wait_until(lambda seen: len(agents(seen)) == 4)
    finish(process)


def test_short_lived_children_cause_no_error_and_no_handshake(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    program = """
        import flamewatch, os
        flamewatch.start()
        for _ in range(100):
            child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    """
    _, errors = run(program, url)
    assert errors == ""
    assert len(agents(server.seen)) <= 1


def test_the_agents_thread_imports_nothing(server: FakeServer, url: str) -> None:
    """If a thread imports a module during a fork, that import never ends in the child."""
    server.respond_with("POST", throttled("0.01s"), assigned("CPU", "0.1s"), never_responds)
    program = """
        import sys, flamewatch
        before = set(sys.modules)
        flamewatch.start()
        sys.stdin.readline()
        print(*(set(sys.modules) - before))
    """
    process = begin(program, url.replace("127.0.0.1", "localhost"))
    server.wait_for("POST", 3)
    out, _ = process.communicate("go\n", timeout=60)
    assert out.split() == []


@pytest.mark.slow
def test_forks_from_a_thread_and_of_children(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    program = """
        import flamewatch, os, sys, threading
        flamewatch.start()
        def fork():
            child = os.fork()
            if child == 0:
                grandchild = os.fork()
                sys.stdin.readline()
                if grandchild:
                    os.waitpid(grandchild, 0)
                os._exit(0)
            os.waitpid(child, 0)
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()
    """
    process = begin(program, url)
    server.wait_until(lambda seen: len(agents(seen)) == 3)
    _, errors = process.communicate("go\ngo\ngo\n", timeout=60)
    assert process.returncode == 0, errors


def test_fork_of_a_multithreaded_host_still_warns(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    program = """
        import flamewatch, os, threading, warnings
        filters = list(warnings.filters)
        flamewatch.start()
        gate = threading.Event()
        {thread}
        child = os.fork()
        if child == 0:
            os._exit(warnings.filters != filters)
        assert os.waitpid(child, 0)[1] == 0
        flamewatch.stop()
        assert warnings.filters == filters
        gate.set()
    """
    _, alone = run(program.format(thread=""), url)
    assert alone == ""
    _, threaded = run(program.format(thread="threading.Thread(target=gate.wait).start()"), url)
    assert ("multi-threaded" in threaded) == (sys.version_info >= (3, 12))


def test_forking_is_no_error_where_warnings_are_errors(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds)
    program = """
        import flamewatch, os
        flamewatch.start()
        child = os.fork()
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """
    run(program, url, "-W", "error")
