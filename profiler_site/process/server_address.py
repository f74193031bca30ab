"""Where the running server is: what `flamewatch up` notes in its data folder."""

import os
from pathlib import Path

from django.conf import settings

_FILE = "address"


def note() -> None:
    """Remember the address that this server listens at, for the other commands."""
    _path().write_text(settings.FLAMEWATCH_URL)


def of_running_server() -> str:
    """FLAMEWATCH_URL if it is set, else where the server was started last."""
    if "FLAMEWATCH_URL" not in os.environ and _path().exists():
        return _path().read_text()
    return str(settings.FLAMEWATCH_URL)


def _path() -> Path:
    return Path(settings.DATA_DIR) / _FILE
