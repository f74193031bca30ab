"""Programs under flamewatch-run, started by its command line."""

import os
import subprocess
import sys
from pathlib import Path

import families
import pytest
from fake_server import FakeServer, never_responds
from programs import begin, environ

from flamewatch import run
from flamewatch.run import BOOTSTRAP, build_environment

WAIT = "import sys; sys.stdin.readline(); print('done')"


def under(url: str, *command: str, **more: str) -> subprocess.Popen[str]:
    return families.begin(
        [sys.executable, "-m", "flamewatch.run", *command],
        env=environ(url, **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate("go\n", timeout=60)
    assert process.returncode == 0, errors
    assert errors == ""
    return out


@pytest.fixture(autouse=True)
def nobody_is_let_go(server: FakeServer) -> None:
    server.respond_with("POST", never_responds)


def test_a_program_is_profiled_without_a_change(server: FakeServer, url: str) -> None:
    options = ["--service", "basket", "--version", "2.0", "--zone", "eu-2"]
    process = under(url, *options, "--", sys.executable, "-c", WAIT)
    [seen] = server.wait_for("POST")
    labels = {"language": "python", "version": "2.0", "zone": "eu-2"}
    assert seen.json["deployment"] == {"target": "basket", "labels": labels}
    assert finish(process) == "done\n"


def test_the_two_dashes_may_be_left_out(server: FakeServer, url: str) -> None:
    process = under(url, "--service", "basket", sys.executable, "-c", WAIT)
    server.wait_for("POST")
    finish(process)


def test_the_program_keeps_its_own_options(url: str) -> None:
    show = "import sys; print(sys.argv[1:])"
    process = under(url, "--", sys.executable, "-c", show, "--service", "x", "--", "y")
    assert finish(process) == "['--service', 'x', '--', 'y']\n"


def test_a_module_and_a_script_with_a_first_line(
    server: FakeServer, url: str, tmp_path: Path
) -> None:
    script = tmp_path / "service"
    script.write_text(f"#!{sys.executable}\n{WAIT}\n")
    script.chmod(0o755)
    (tmp_path / "shop.py").write_text(WAIT)
    for count, command in enumerate([[str(script)], [sys.executable, "-m", "shop"]], start=1):
        path = os.pathsep.join([environ(url)["PYTHONPATH"], str(tmp_path)])
        process = under(url, "--", *command, PYTHONPATH=path)
        server.wait_for("POST", count)
        assert finish(process) == "done\n"


def test_program_replaces_the_launcher_in_its_process(server: FakeServer, url: str) -> None:
    process = under(url, "--", sys.executable, "-c", "import os; print(os.getpid())")
    assert int(finish(process)) == process.pid


def test_subprocesses_are_profiled(server: FakeServer, url: str) -> None:
    starter = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAIT!r}])"
    process = under(url, "--", sys.executable, "-c", starter)
    seen = server.wait_for("POST", 2)
    assert len({one.agent for one in seen}) == 2
    finish(process)


def test_a_program_that_becomes_another_is_profiled_again(server: FakeServer, url: str) -> None:
    exec_it = f"os.execl({sys.executable!r}, 'python', '-c', {WAIT!r})"
    become = f"import os, sys; sys.stdin.readline(); {exec_it}"
    process = under(url, "--", sys.executable, "-u", "-c", become)
    server.wait_for("POST")
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    server.wait_for("POST", 2)
    finish(process)


@pytest.mark.slow
def test_workers_of_multiprocessing_spawn_are_profiled(
    server: FakeServer, url: str, tmp_path: Path
) -> None:
    program = tmp_path / "pool.py"
    program.write_text(
        "import multiprocessing, sys\n"
        "def work(gate): gate.wait()\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    gate = context.Event()\n"
        "    worker = context.Process(target=work, args=(gate,))\n"
        "    worker.start()\n"
        "    sys.stdin.readline()\n"
        "    gate.set()\n"
        "    worker.join()\n"
        "    sys.exit(worker.exitcode)\n"
    )
    process = under(url, "--", sys.executable, str(program))
    server.wait_until(lambda seen: len({one.agent for one in seen}) >= 2)
    finish(process)


def test_the_programs_own_sitecustomize_runs(server: FakeServer, url: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.mark = __file__")
    path = os.pathsep.join([environ(url)["PYTHONPATH"], str(tmp_path)])
    show = "import sys, sitecustomize; print(mark == sitecustomize.__file__); sys.stdin.readline()"
    process = under(url, "--", sys.executable, "-c", show, PYTHONPATH=path)
    server.wait_for("POST")
    assert finish(process) == "True\n"


def test_a_sitecustomize_that_fails_is_reported_as_python_does(
    server: FakeServer, url: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("1 / 0")
    path = os.pathsep.join([environ(url)["PYTHONPATH"], str(tmp_path)])
    process = under(url, "--", sys.executable, "-c", WAIT, PYTHONPATH=path)
    server.wait_for("POST")
    out, errors = process.communicate("go\n", timeout=60)
    assert out == "done\n"
    assert "ZeroDivisionError" in errors


def test_bootstrap_folder_is_not_on_sys_path_of_the_program(url: str) -> None:
    process = under(url, "--", sys.executable, "-c", "import sys; print(sys.path)")
    assert BOOTSTRAP not in finish(process)


def test_program_runs_without_a_key_with_one_line_of_warning(server: FakeServer, url: str) -> None:
    starter = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAIT!r}])"
    process = under(url, "--", sys.executable, "-c", starter, FLAMEWATCH_KEY="")
    out, errors = process.communicate("go\n", timeout=60)
    assert (process.returncode, out) == (0, "done\n")
    assert (
        errors == "flamewatch: not profiling: no API key: set FLAMEWATCH_KEY or pass start(key=…)\n"
    )
    assert server.seen == []


def test_python_without_the_agent_package_warns_once(url: str, tmp_path: Path) -> None:
    environment = build_environment(environ(url), 0) | {
        "PYTHONPATH": BOOTSTRAP,
        "PYTHONNOUSERSITE": "1",
    }
    program = "import os; os.environ['FLAMEWATCH_RUN_PID'] = str(os.getpid()); import sitecustomize"
    bare = [sys.executable, "-S", "-c", f"import sys; sys.path.append({BOOTSTRAP!r}); {program}"]
    done = subprocess.run(bare, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be profiled: No module named 'flamewatch'" in done.stderr


@pytest.mark.parametrize(("program", "code"), [("/no/such/program", 127), ("/etc/passwd", 126)])
def test_a_program_that_cannot_be_run_has_the_exit_code_of_a_shell(
    url: str, program: str, code: int
) -> None:
    process = under(url, "--", program)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert program in errors


def test_missing_program_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.main(["--service", "checkout"])
    assert "no program given" in capsys.readouterr().err


@pytest.mark.slow
def test_pythonpath_with_the_bootstrap_folder_profiles_a_program_and_its_subprocess(
    server: FakeServer, url: str
) -> None:
    folder = subprocess.run(
        [sys.executable, "-m", "flamewatch.run", "--path"],
        env=environ(url),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    path = os.pathsep.join([folder, environ(url)["PYTHONPATH"]])
    starter = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAIT!r}])"
    process = begin(starter, url, PYTHONPATH=path)
    seen = server.wait_for("POST", 2)
    assert len({one.agent for one in seen}) == 2
    assert finish(process) == "done\n"


def test_missing_key_is_reported_by_the_first_process_only(url: str) -> None:
    path = os.pathsep.join([BOOTSTRAP, environ(url)["PYTHONPATH"]])
    starter = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAIT!r}])"
    process = begin(starter, url, PYTHONPATH=path, FLAMEWATCH_KEY="")
    out, errors = process.communicate("go\n", timeout=60)
    assert (process.returncode, out) == (0, "done\n")
    assert (
        errors == "flamewatch: not profiling: no API key: set FLAMEWATCH_KEY or pass start(key=…)\n"
    )


def test_bootstrap_folder_is_added_to_pythonpath_once() -> None:
    once = build_environment({"PYTHONPATH": "/a:/b"}, 7)
    assert once["PYTHONPATH"] == f"{BOOTSTRAP}:/a:/b"
    assert build_environment(once, 8)["PYTHONPATH"] == once["PYTHONPATH"]
    assert build_environment({}, 7)["PYTHONPATH"] == BOOTSTRAP
