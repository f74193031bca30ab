"""The lines to paste, for one server and one key; what is shown is pasted word for word."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from frontend.pages.agent_files.files import AGENT, AgentFile

# Stands where a key's text would: keys are shown once, when they are made.
KEY_PLACEHOLDER = "fw_…"
SERVICE = "my-service"
COMMAND = "python app.py"
_OWN_MACHINE = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class InstallCommands:
    install: str
    run: str
    code: str
    check: str  # asks whether the host reaches the server


def install_commands(server: str, key: str, files: list[AgentFile]) -> InstallCommands:
    """`server` without a slash at its end; `files` are those that it serves."""
    return InstallCommands(
        install=_install(server, files),
        run=f"export FLAMEWATCH_URL={server}\nexport FLAMEWATCH_KEY={key}\n"
        f"flamewatch-run --service {SERVICE} -- {COMMAND}",
        code=f'import flamewatch\nflamewatch.start(service="{SERVICE}", version="1.0")',
        check=f"curl {server}/ok",
    )


def _install(server: str, files: list[AgentFile]) -> str:
    """Return the line for pip, with this server as its only source.

    `--extra-index-url` would let anybody who takes the name on a public index replace the agent.
    An sdist alone goes by its address: building it takes setuptools, which pip then fetches from
    the index that it knows.
    """
    sdists = [file.name for file in files if file.project == AGENT and not file.is_wheel]
    if sdists and not any(file.is_wheel for file in files):
        return f'pip install "flamewatch-agent @ {server}/agents/python/{sdists[-1]}"'
    trust = _trust(server)
    return f"pip install --no-index --find-links {server}/agents/python/{trust} flamewatch-agent"


def _trust(server: str) -> str:
    """pip reads links from plain http only where it is told to."""
    parts = urlsplit(server)
    if parts.scheme == "https" or parts.hostname in _OWN_MACHINE:
        return ""
    return f" --trusted-host {parts.netloc}"
