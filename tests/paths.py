"""Folders and scripts that tests read."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "tests" / "samples"
STATIC = ROOT / "frontend" / "static"


def own_scripts() -> dict[str, bytes]:
    """Return the text of each script in STATIC that is not vendored, by path."""
    return {
        path.relative_to(STATIC).as_posix(): path.read_bytes()
        for path in STATIC.rglob("*.js")
        if "vendor" not in path.parts
    }
