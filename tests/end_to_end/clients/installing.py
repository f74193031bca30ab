"""Install the programs of this folder with the clients that they use, from their registries.

Each is installed once per user for all checkouts, because it takes minutes.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

CLIENTS = Path(__file__).parent
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
_TOOLS = _CACHE / "flamewatch-tests" / "clients"


def go_program(name: str) -> Path:
    """Return the path of the compiled program in the folder `name`."""

    def build(source: Path, target: Path) -> None:
        go = shutil.which("go", path=f"{os.environ['PATH']}:/usr/local/go/bin")
        assert go, "go is missing, which compiles the program: https://go.dev/dl"
        environment = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}
        _run([go, "build", "-o", str(target / name), "."], source, environment)

    return _installed(name, build) / name


def node_program(name: str) -> Path:
    """Return the path of main.js in a copy of the folder `name`, beside its node_modules."""

    def install(source: Path, target: Path) -> None:
        shutil.copytree(source, target, dirs_exist_ok=True)
        _run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], target, os.environ)

    return _installed(name, install) / "main.js"


def python_environment(name: str) -> Path:
    """Return the Python of an environment with the requirements of the folder `name`."""

    def install(source: Path, target: Path) -> None:
        _run(["python3.11", "-m", "venv", str(target)], source, os.environ)
        pip = [str(target / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        _run([*pip, "--require-hashes", "-r", "requirements.txt"], source, os.environ)

    return _installed(name, install) / "bin" / "python"


def _installed(name: str, install: Callable[[Path, Path], None]) -> Path:
    """Return the folder of a program, installed if its sources have changed or it is missing."""
    source = CLIENTS / name
    target = _TOOLS / f"{name}-{_digest(source)}"
    finished = target / ".installed"  # the last file to be made
    if not finished.exists():
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        install(source, target)
        finished.touch()
    return target


def _digest(folder: Path) -> str:
    digest = sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}"
