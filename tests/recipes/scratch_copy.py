"""Copy of the repository, in which a test follows a recipe of CONTRIBUTING.md."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.paths import ROOT

# Apps, tests and what they read. The environment, the agents and what is built stay out.
_FOLDERS = (
    *("api", "common", "endpoints", "frontend", "ingest", "profiler_site", "profiles"),
    *("projects", "scheduler", "tests", "tools", "docs"),
)
_FILES = ("conftest.py", "manage.py", "pyproject.toml", "Makefile", ".gitignore", "CONTRIBUTING.md")
_IGNORED = shutil.ignore_patterns("__pycache__", "corpus", "screenshots", "*.c")


@dataclass(frozen=True, slots=True)
class ScratchCopy:
    root: Path

    @classmethod
    def create(cls, root: Path) -> "ScratchCopy":
        for name in _FOLDERS:
            shutil.copytree(ROOT / name, root / name, ignore=_IGNORED)
        for name in _FILES:
            shutil.copy(ROOT / name, root / name)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        return cls(root)

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".py":
            (target.parent / "__init__.py").touch()
        target.write_text(text)

    def insert(self, path: str, text: str, *, after: str) -> None:
        """Insert lines after the first line that contains `after`."""
        lines = (self.root / path).read_text().splitlines(keepends=True)
        number = next((i for i, line in enumerate(lines) if after in line), None)
        assert number is not None, f"{path} has no line with {after!r}"
        (self.root / path).write_text("".join([*lines[: number + 1], text, *lines[number + 1 :]]))

    def run(self, *arguments: str, is_ok: bool = True, **environment: str) -> str:
        """Run Python in the copy and return its output; fail if its exit code is not the one."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=self._environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        output = done.stdout + done.stderr
        assert (done.returncode == 0) == is_ok, output
        return output

    def test(self, *arguments: str, is_ok: bool = True) -> str:
        """Run tests of the copy."""
        return self.run("-m", "pytest", "-p", "no:cacheprovider", *arguments, is_ok=is_ok)

    def run_django(self, code: str, **environment: str) -> str:
        return self.run("-c", f"import django; django.setup()\n{code}", is_ok=True, **environment)

    def make(self, target: str) -> None:
        """Run a target of the Makefile with the environment of this process."""
        stamps = self.root / ".stamps"
        stamps.mkdir(exist_ok=True)
        variables = [f"BIN={Path(sys.executable).parent}", "--assume-old=.stamps/dev"]
        (stamps / "dev").touch()
        command = ["make", *variables, target]
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def lint(self) -> None:
        self.run(
            "-m", "ruff", "check", "--no-cache", "frontend", "ingest", "profiler_site", "projects"
        )

    @property
    def _environment(self) -> dict[str, str]:
        foreign = re.compile(r"FLAMEWATCH_|PYTEST_|DATABASE_URL|REDIS_URL|BLOB_URL|COV_")
        own = {name: value for name, value in os.environ.items() if not foreign.match(name)}
        return own | {
            "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
            "PYTHONPATH": str(self.root),
            "FLAMEWATCH_DATA_DIR": str(self.root / "data"),
        }
