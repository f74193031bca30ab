"""Folder of the agent's files: the setting, else what `make install` built."""

import os
import subprocess
import sys
from pathlib import Path

from profiler_site import settings

PRINT = "import runpy, sys; print(runpy.run_path(sys.argv[1])['AGENT_FILES_DIR'])"


def folder(checkout: Path, data: Path, **environment: str) -> Path:
    """Return AGENT_FILES_DIR in the settings of a checkout."""
    source = checkout / "profiler_site"
    source.mkdir(exist_ok=True)
    (source / "settings.py").write_text(Path(settings.__file__).read_text())
    done = subprocess.run(
        [sys.executable, "-c", PRINT, str(source / "settings.py")],
        env=os.environ | {"FLAMEWATCH_DATA_DIR": str(data)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


def test_agents_built_in_the_checkout_are_served_for_any_data_folder(tmp_path: Path) -> None:
    checkout, data = tmp_path / "checkout", tmp_path / "data"
    checkout.mkdir()
    assert folder(checkout, data) == data / "agents"
    (checkout / "dist" / "agents").mkdir(parents=True)
    assert folder(checkout, data) == checkout / "dist" / "agents"
    assert folder(checkout, data, FLAMEWATCH_AGENT_FILES_DIR="/srv/agents") == Path("/srv/agents")
