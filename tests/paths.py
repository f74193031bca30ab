"""Folders that tests read."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "tests" / "samples"
STATIC = ROOT / "frontend" / "static"
