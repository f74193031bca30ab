"""The client's distribution: alone without Django, beside the server's without a common file."""

import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT

CLIENT = ROOT / "client"


_PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def build_wheel(folder: Path) -> Path:
    """Build the client's wheel in a folder."""
    wheels, copy = folder / "wheels", folder / "client"
    subprocess.run(["cp", "-r", str(CLIENT), str(copy)], check=True)
    build = [
        *_PIP,
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(wheels),
        str(copy),
    ]
    subprocess.run(build, check=True)
    (wheel,) = wheels.glob("*.whl")
    return wheel


def install(folder: Path) -> Path:
    """Install the client alone into a new environment; return its script."""
    wheel, environment = build_wheel(folder), folder / "environment"
    venv.create(environment, symlinks=True)
    target = ["--python", str(environment), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*_PIP, *target], check=True)
    return environment / "bin" / "flamewatch"


@pytest.mark.slow
def test_client_alone_works_without_django(tmp_path: Path) -> None:
    script = install(tmp_path)
    done = subprocess.run([script, "--help"], text=True, capture_output=True, check=True)
    assert "login" in done.stdout
    assert "migrate" not in done.stdout
    done = subprocess.run(
        [script, "services"],
        env={"XDG_CONFIG_HOME": str(tmp_path)},
        text=True,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Run `flamewatch login`" in done.stderr


@pytest.mark.slow
def test_wheel_has_the_licence(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_wheel(tmp_path)) as wheel:
        (name,) = (each for each in wheel.namelist() if each.endswith("/LICENSE"))
        assert wheel.read(name) == (ROOT / "LICENSE").read_bytes()


def test_only_the_client_installs_the_script() -> None:
    server = tomllib.loads((ROOT / "pyproject.toml").read_text())
    client = tomllib.loads((CLIENT / "pyproject.toml").read_text())
    assert client["project"]["scripts"] == {"flamewatch": "flamewatch_client.main:main"}
    assert "scripts" not in server["project"]
    packages = server["tool"]["setuptools"]["packages"]["find"]["include"]
    assert not [name for name in packages if "client".startswith(name.rstrip("*"))]


def test_both_together_have_all_commands() -> None:
    command = [sys.executable, "-m", "flamewatch_client.main", "--help"]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    assert {"login", "flame", "up", "migrate", "key", "keys"} <= set(done.stdout.split())


def test_client_commands_import_no_django_beside_the_server() -> None:
    code = (
        "import sys\nfrom flamewatch_client.main import build_parser\nbuild_parser()\n"
        "print([name for name in ('django', 'celery', 'psycopg') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == "[]\n"
