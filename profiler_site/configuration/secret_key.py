"""Django's SECRET_KEY: from the environment, or generated once and stored in the data folder."""

import os
import secrets
from pathlib import Path

from profiler_site.configuration import env
from profiler_site.configuration.env import BadSetting

NAME = "FLAMEWATCH_SECRET_KEY"
MIN_CHARACTERS = 16
_FILE = "secret_key"


def is_in_environment() -> bool:
    return bool(os.environ.get(NAME))


def replace_file(data_dir: Path, key: str) -> None:
    """Store another key in the data folder, for the next start."""
    new = data_dir / f"{_FILE}.{os.getpid()}"
    new.touch(mode=0o600)
    new.write_text(key)
    new.rename(data_dir / _FILE)


def load_or_make(data_dir: Path) -> str:
    """Return the key for signatures; several machines share one through FLAMEWATCH_SECRET_KEY.

    Raise BadSetting if the data folder cannot be used.
    """
    given = env.text(NAME, "")
    if given:
        if len(given) < MIN_CHARACTERS:
            raise BadSetting(
                f"{NAME} has {len(given)} characters; it needs {MIN_CHARACTERS} at least, because"
                " whoever guesses it can sign in as anybody. Create one: openssl rand -hex 32"
            )
        return given
    path = data_dir / _FILE
    try:
        if not path.exists():
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(path, secrets.token_urlsafe(48))
        return path.read_text()
    except OSError as error:
        raise BadSetting(
            f"FLAMEWATCH_DATA_DIR is '{data_dir}': {path.name} cannot be read or written there:"
            f" {error.strerror}. Check the permissions of the folder."
        ) from None


def _write_once(path: Path, key: str) -> None:
    """Write the key to a temporary file and link it, atomically.

    Two processes that start for the first time together thus use the same key.
    """
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.touch(mode=0o600)
    aside.write_text(key)
    try:
        os.link(aside, path)
    except FileExistsError:
        return  # the other process was first: use its key
    finally:
        aside.unlink()
