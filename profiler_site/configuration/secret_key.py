"""The server's secret: from the environment, or made once and kept in the data folder."""

import os
import secrets
from pathlib import Path

from profiler_site.configuration.env import BadSetting


def load_or_make(data_dir: Path) -> str:
    """The key for signatures; several machines share one through FLAMEWATCH_SECRET_KEY.

    BadSetting where the data folder cannot be used.
    """
    given = os.environ.get("FLAMEWATCH_SECRET_KEY")
    if given:
        return given
    path = data_dir / "secret_key"
    try:
        if not path.exists():
            data_dir.mkdir(parents=True, exist_ok=True)
            _write_once(path, secrets.token_urlsafe(48))
        return path.read_text()
    except OSError as error:
        raise BadSetting(
            f"FLAMEWATCH_DATA_DIR is '{data_dir}', where {path.name} can be neither read"
            f" nor written: {error.strerror}."
        ) from None


def _write_once(path: Path, key: str) -> None:
    """Written aside and linked, so that two first starts agree on one key."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.touch(mode=0o600)
    aside.write_text(key)
    try:
        os.link(aside, path)
    except FileExistsError:
        return  # the other start was first; its key is the one
    finally:
        aside.unlink()
