"""Copy of the repository, in which a test follows a recipe of CONTRIBUTING.md."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.paths import ROOT

# Apps, tests and what they read. The environment, the agents and what is built stay out.
_FOLDERS = (
    *("api", "common", "endpoints", "frontend", "ingest", "profiler_site", "profiles"),
    *("projects", "scheduler", "tests", "tools", "docs", "benchmarks"),
)
_FILES = ("conftest.py", "manage.py", "pyproject.toml", "Makefile", ".gitignore", "CONTRIBUTING.md")
# With the bytecode, which is valid in a copy with the same times of change: compiling the modules
# again takes some seconds of each recipe.
_IGNORED = shutil.ignore_patterns("corpus", "screenshots", "*.c")


@dataclass(frozen=True, slots=True)
class ScratchCopy:
    root: Path
    changed: set[str] = field(default_factory=set)  # paths of written and changed files

    @classmethod
    def create(cls, root: Path) -> "ScratchCopy":
        for name in _FOLDERS:
            shutil.copytree(ROOT / name, root / name, ignore=_IGNORED)
        for name in _FILES:
            shutil.copy(ROOT / name, root / name)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        return cls(root)

    def write(self, path: str, text: str) -> None:
        self.changed.add(path)
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".py":
            (target.parent / "__init__.py").touch()
        target.write_text(text)

    def insert(self, path: str, text: str, *, after: str) -> None:
        """Insert lines after the first line that contains `after`."""
        self.changed.add(path)
        lines = (self.root / path).read_text().splitlines(keepends=True)
        number = next((i for i, line in enumerate(lines) if after in line), None)
        assert number is not None, f"{path} has no line with {after!r}"
        (self.root / path).write_text("".join([*lines[: number + 1], text, *lines[number + 1 :]]))

    def replace(self, path: str, text: str, new: str) -> None:
        """Replace a text that occurs once in a file."""
        self.changed.add(path)
        whole = (self.root / path).read_text()
        assert whole.count(text) == 1, f"{path} has {text!r} {whole.count(text)} times"
        (self.root / path).write_text(whole.replace(text, new))

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

    @property
    def changed_code(self) -> set[str]:
        """Return the changed files, except for tests and documentation."""
        return {path for path in self.changed if not path.startswith(("tests/", "docs/"))}

    def make(self, target: str, *variables: str, may_fail: bool = False) -> str:
        """Run a target of the Makefile with the environment of this process; return its output."""
        stamps = self.root / ".stamps"
        stamps.mkdir(exist_ok=True)
        own = [f"BIN={Path(sys.executable).parent}", "--assume-old=.stamps/dev"]
        own.append("--no-print-directory")  # also below another make
        (stamps / "dev").touch()
        command = ["make", *own, target, *variables]
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert may_fail or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def lint(self) -> None:
        """Lint the changed modules."""
        modules = sorted(path for path in self.changed_code if path.endswith(".py"))
        self.run("-m", "ruff", "check", "--no-cache", *modules)

    @property
    def _environment(self) -> dict[str, str]:
        foreign = re.compile(r"FLAMEWATCH_|PYTEST_|DATABASE_URL|REDIS_URL|BLOB_URL|COV_")
        own = {name: value for name, value in os.environ.items() if not foreign.match(name)}
        return own | {
            "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
            "PYTHONPATH": str(self.root),
            "FLAMEWATCH_DATA_DIR": str(self.root / "data"),
        }
