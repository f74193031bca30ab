"""Build the agent's sdist and wheel once, as `make install` does."""

import shutil
import subprocess
from pathlib import Path

from tests.paths import ROOT
from tools import agent_dist


def build(folder: Path) -> None:
    """Build into `folder` from a copy of the source, so that the checkout stays clean."""
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
    files = folder / "files"
    if agent_dist.TARGET.is_dir():
        shutil.copytree(agent_dist.TARGET, files)  # the build requirements are installed already
    agent_dist.build(source / "agents/python", files)
