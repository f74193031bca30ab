"""Scripts of tests in Node.js."""

import subprocess
from pathlib import Path

from tests import services
from tests.paths import ROOT


def run_file(path: Path) -> str:
    """Run a script or module, and return its output. Raise as `run_module` does."""
    return _run(str(path))


def run_module(source: str, *arguments: str, stdin: str = "") -> str:
    """Run the source of a module in ROOT, and return its output.

    `process.argv` has the arguments from index 1 on. Raise AssertionError with all output if the
    module fails, and `services.ServiceMissing` with the package to install without Node.js.
    """
    return _run("--input-type=module", "-e", source, *arguments, stdin=stdin)


def _run(*arguments: str, stdin: str = "") -> str:
    command = [services.find("node"), *arguments]
    done = subprocess.run(
        command, input=stdin, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
