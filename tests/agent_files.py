"""The agent's sdist and wheel, built once, as `make up` builds them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def build(folder: Path) -> None:
    """Build into `folder`; a copy of the source, so that nothing is left in the checkout."""
    source = folder / "source"
    copied = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "agents/python"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in copied.stdout.splitlines():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    build_command = [sys.executable, "-m", "build", "--no-isolation", "--outdir"]
    subprocess.run(
        [*build_command, str(folder / "files"), str(source / "agents/python")],
        check=True,
        stdout=subprocess.DEVNULL,
    )
