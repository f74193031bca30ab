"""Bundles of the browser's modules: a page loads a few files instead of one for each module.

They are part of the repository, so that a machine without Node.js serves them too. `make bundles`
writes them after a change of a module (tools/bundle.mjs).
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "frontend" / "bundles"
_FINGERPRINT = "sources.sha256"


class BundlesOutdated(Exception):
    """The bundles are made of other modules than those that are here."""


def read_bundles(sources: Mapping[str, bytes], folder: Path = FOLDER) -> dict[str, str]:
    """Return the texts of the files to serve instead of the modules `sources`, both by path.

    Raise `BundlesOutdated` if a module has changed since they were made.
    """
    if (folder / _FINGERPRINT).read_text().strip() != fingerprint(sources):
        raise BundlesOutdated(
            f"A module of frontend/static has changed since {folder} was written: run `make"
            " bundles`, which needs Node.js, or set FLAMEWATCH_DEBUG=1 to serve the modules."
        )
    paths = sorted(folder.rglob("*.js"))
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def fingerprint(sources: Mapping[str, bytes]) -> str:
    """Hash the paths and texts of modules, as tools/bundle.mjs does."""
    lines = (
        f"{name} {hashlib.sha256(text).hexdigest()}\n" for name, text in sorted(sources.items())
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()
