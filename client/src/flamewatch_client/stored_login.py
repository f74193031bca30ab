"""Server, token and project of the user: from the environment, else from the file of `login`."""

import json
import os
import tempfile
from argparse import Namespace
from dataclasses import asdict, dataclass
from pathlib import Path

from flamewatch_client.connection import ServerConnection
from flamewatch_client.errors import RequestFailed


@dataclass(frozen=True, slots=True)
class Login:
    url: str = ""
    token: str = ""
    project: str = ""
    ca_file: str = ""


def get_path() -> Path:
    """Return the path of the file, whether it exists or not."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "flamewatch" / "login.json"


def save(login: Login) -> Path:
    """Replace the file, which only its owner may read, in one step."""
    path = get_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=path.parent)  # with mode 0600
        with os.fdopen(descriptor, "w") as file:
            json.dump(asdict(login), file)
        Path(name).replace(path)
    except OSError as error:
        raise RequestFailed(f"Cannot write {path}: {error.strerror}.") from None
    return path


def load(url: str = "") -> Login:
    """Return the login of this process, for the server of `url` or of FLAMEWATCH_URL if given.

    The stored token is used only for the server that it was stored for.
    """
    stored = _read()
    url = (url or os.environ.get("FLAMEWATCH_URL", "")).rstrip("/") or stored.url
    if url != stored.url:
        stored = Login(url=url)
    token = os.environ.get("FLAMEWATCH_TOKEN") or os.environ.get("FLAMEWATCH_KEY")
    return Login(
        url=url,
        token=token or stored.token,
        project=os.environ.get("FLAMEWATCH_PROJECT") or stored.project,
        ca_file=stored.ca_file,
    )


def connect(options: Namespace) -> ServerConnection:
    """Return the connection of the common options. Raise RequestFailed without server or token."""
    login = load(options.url or "")
    if not login.url or not login.token:
        raise RequestFailed(
            "There is no server or token. Run `flamewatch login`, or set FLAMEWATCH_URL and "
            "FLAMEWATCH_TOKEN."
        )
    return ServerConnection(
        login.url,
        login.token,
        options.project or login.project,
        options.ca_file or login.ca_file,
        options.timeout,
    )


def _read() -> Login:
    path = get_path()
    try:
        return Login(**json.loads(path.read_text()))
    except FileNotFoundError:
        return Login()
    except (OSError, ValueError, TypeError):
        raise RequestFailed(f"Cannot read {path}. Run `flamewatch login` again.") from None
