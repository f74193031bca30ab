"""`python -m tests.fuzz` as tests run it, with today's seed."""

import subprocess
import sys
from datetime import UTC, datetime

from tests.paths import ROOT


def fuzz(*arguments: str) -> int:
    """Fuzz with today's seed and return the number of inputs; fail if there is a finding."""
    seed = datetime.now(UTC).date().toordinal()
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", f"--seed={seed}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    row = next(line for line in done.stdout.splitlines() if line.startswith("all "))
    return int(row.split()[2].replace(",", ""))
