"""Single case of a benchmark in a process of its own, so that all cases start equal."""

import json
import os
import subprocess
import sys
from typing import Any


def measure_apart(program: str, *case: object) -> dict[str, Any]:
    """Return the JSON in the last line that `program case …` prints.

    If the program fails, print its errors to stderr and return {}.
    """
    words = [str(word) for word in case]
    command = [sys.executable, program, "case", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{' '.join(words)} failed:\n{done.stderr}", file=sys.stderr)
        return {}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def print_result(result: dict[str, Any]) -> None:
    """Print the result of a case and exit without joining threads: the workload's never end."""
    print(json.dumps(result), flush=True)
    os._exit(0)
