"""Configuration of the agent's tests, which use the sampler built from this tree."""

import fcntl
import subprocess
import sys
from pathlib import Path

AGENT = Path(__file__).parent.parent
BUILT = AGENT / "src" / "flamewatch" / "_native.abi3.so"


def is_current() -> bool:
    sources = [*AGENT.glob("native/**/*.[ch]"), AGENT / "setup.py"]
    return BUILT.exists() and BUILT.stat().st_mtime > max(s.stat().st_mtime for s in sources)


def build() -> None:
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=AGENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the sampler does not build:\n{done.stderr}")


sys.path.insert(0, str(Path(__file__).parent))  # for interpreters.py

with (AGENT / "setup.py").open() as lock:  # one of several pytest workers builds, the others wait
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not is_current():
        build()
