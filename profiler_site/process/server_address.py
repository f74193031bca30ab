"""Address of the running server, which `flamewatch up` stores in its data folder."""

import os
from pathlib import Path

from django.conf import settings

_FILE = "address"


def note() -> None:
    """Store the address of this server for the other commands."""
    _path().write_text(settings.FLAMEWATCH_URL)


def find_server_url() -> str:
    """Return FLAMEWATCH_URL if it is set, else the stored address of the last started server."""
    if "FLAMEWATCH_URL" not in os.environ and _path().exists():
        return _path().read_text()
    return str(settings.FLAMEWATCH_URL)


def _path() -> Path:
    return Path(settings.DATA_DIR) / _FILE
