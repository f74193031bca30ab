"""Print branch coverage per app by the tests of `make check`; no threshold is enforced."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage

from tests.paths import ROOT
from tests.stages import LEVELS


@dataclass
class Branches:
    """Counts of an app's statements and branches: all of them, and those executed."""

    total: int = 0
    ran: int = 0

    def percent(self) -> float:
        return 100 * self.ran / self.total if self.total else 100.0


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="flamewatch-coverage-") as folder:
        data = str(Path(folder, "coverage"))
        code = _run_tests(data, folder)
        found = _by_app(data, folder)
    for app, branches in sorted(found.items()):
        print(f"{app:<16}{branches.percent():6.1f} %  of {branches.total:,} lines and branches")
    return code


def _run_tests(data: str, folder: str) -> int:
    """Run the stages of `make check`, with one data file per process."""
    environment = os.environ | {"COVERAGE_FILE": data, "FLAMEWATCH_DATA_DIR": folder}
    environment["PYTHONHASHSEED"] = "0"
    measured = [sys.executable, "-m", "coverage", "run", "-m", "pytest"]
    codes = [
        subprocess.run(
            [*measured, *stage.arguments()], cwd=ROOT, env=environment, check=False
        ).returncode
        for stage in LEVELS["check"]
    ]
    return max(codes)


def _by_app(data: str, folder: str) -> dict[str, Branches]:
    coverage = Coverage(data_file=data)
    coverage.combine([folder])
    report = Path(folder, "report.json")
    with contextlib.redirect_stdout(io.StringIO()):
        coverage.json_report(outfile=str(report), omit=["*/migrations/*"])
    found: dict[str, Branches] = defaultdict(Branches)
    for name, file in json.loads(report.read_text())["files"].items():
        numbers, app = file["summary"], found[Path(name).parts[0]]
        app.total += numbers["num_statements"] + numbers["num_branches"]
        app.ran += numbers["covered_lines"] + numbers["covered_branches"]
    return found


if __name__ == "__main__":
    sys.exit(main())
