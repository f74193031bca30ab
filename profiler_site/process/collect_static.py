"""Collect static files at the server's start if any of them has changed."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

_FINGERPRINT = ".collected-from"


def collect() -> None:
    """Update STATIC_ROOT, only if necessary: hashing every file again takes seconds."""
    noted, now = Path(settings.STATIC_ROOT) / _FINGERPRINT, _fingerprint()
    if noted.exists() and noted.read_text() == now:
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    noted.write_text(now)


def _fingerprint() -> str:
    """Hash the server's version and the names, sizes and modification times of all sources."""
    seen = [settings.VERSION]
    for finder in get_finders():
        for name, storage in finder.list([]):
            stat = Path(storage.path(name)).stat()
            seen.append(f"{storage.path(name)} {stat.st_size} {stat.st_mtime_ns}")
    return hashlib.sha256("\n".join(sorted(seen)).encode()).hexdigest()
