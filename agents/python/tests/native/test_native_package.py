"""Distribution, built as its users get it: one wheel for every interpreter."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flamewatch.version import __version__

AGENT = Path(__file__).parents[2]
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the source distribution."""
    copy = tmp_path_factory.mktemp("agent") / "python"
    left_out = shutil.ignore_patterns("build", "dist", "*.egg-info", "*.so", "tests", "__pycache__")
    shutil.copytree(AGENT, copy, ignore=left_out)
    command = [sys.executable, "-m", "build", "--no-isolation"]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    assert [path.name for path in copy.glob("dist/*.tar.gz")] == [
        f"flamewatch_agent-{__version__}.tar.gz"
    ]
    (built,) = copy.glob("dist/*.whl")
    return built


@pytest.mark.parametrize(
    ("elsewhere", "message"),
    [
        ("import sys; sys.platform = 'darwin'", "runs on Linux only, and this is darwin"),
        ("import platform; platform.machine = lambda: 's390x'", "Python on s390x"),
    ],
)
def test_on_an_unsupported_platform_the_installation_fails_with_a_reason(
    elsewhere: str, message: str
) -> None:
    program = f"import runpy, setuptools; {elsewhere}; runpy.run_path('setup.py')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=AGENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.server
def test_one_wheel_serves_all_versions(wheel: Path) -> None:
    assert wheel.name.startswith(f"flamewatch_agent-{__version__}-cp311-abi3-linux_")


@pytest.mark.server
def test_wheel_has_type_stubs_and_no_dependencies(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith("METADATA")]
        text = archive.read(metadata).decode()
    assert {"flamewatch/py.typed", "flamewatch/_native.pyi", "flamewatch/_native.abi3.so"} <= {
        *names
    }
    assert "Requires-Dist" not in text
    assert "Requires-Python: >=3.11" in text


@pytest.mark.server
def test_the_built_sampler_is_accepted_by_the_interpreter(
    wheel: Path, tmp_path: Path, run: Run
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    assert run("supported.py", tmp_path) == {"supported": None, "from": str(tmp_path)}
