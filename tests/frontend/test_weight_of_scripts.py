"""What the largest page makes a browser fetch and run."""

import gzip
from pathlib import Path

STATIC = Path(__file__).parent.parent.parent / "frontend" / "static"


def test_all_scripts_together_are_below_120_kb() -> None:
    """Of every page at once: none loads more."""
    scripts = list(STATIC.rglob("*.js"))
    assert len(scripts) > 30
    assert sum(len(gzip.compress(script.read_bytes())) for script in scripts) <= 120_000
