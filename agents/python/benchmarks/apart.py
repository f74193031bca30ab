"""A case of a benchmark in a process of its own, so that all begin alike."""

import json
import os
import subprocess
import sys
from typing import Any


def measured_apart(program: str, *case: object) -> dict[str, Any]:
    """What `program case …` prints last, as JSON; empty, and said on stderr, when it fails."""
    words = [str(word) for word in case]
    command = [sys.executable, program, "case", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{' '.join(words)} failed:\n{done.stderr}", file=sys.stderr)
        return {}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def answer(result: dict[str, Any]) -> None:
    """The case's own side. The workload's threads wait for nothing, so the process just ends."""
    print(json.dumps(result), flush=True)
    os._exit(0)
