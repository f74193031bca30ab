"""Installation commands for one server and one key, shown to be pasted verbatim."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from frontend.pages.agent_files.files import AGENT, AgentFile

# Placeholder for a key's secret, which is shown only once, when the key is created.
KEY_PLACEHOLDER = "fw_…"
SERVICE = "my-service"
COMMAND = "python app.py"
_OWN_MACHINE = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class InstallCommands:
    install: str
    run: str
    code: str
    check: str  # command that tests whether the host can reach the server


def install_commands(server: str, key: str, files: list[AgentFile]) -> InstallCommands:
    """Return the commands to install, run and check the agent.

    `server` is its URL without a trailing slash; `files` are the agent files that it serves.
    """
    return InstallCommands(
        install=_install(server, files),
        run=f"export FLAMEWATCH_URL={server}\nexport FLAMEWATCH_KEY={key}\n"
        f"flamewatch-run --service {SERVICE} -- {COMMAND}",
        code=f'import flamewatch\nflamewatch.start(service="{SERVICE}", version="1.0")',
        check=f"curl {server}/ok",
    )


def _install(server: str, files: list[AgentFile]) -> str:
    """Return the pip command, with this server as its only package source.

    `--extra-index-url` would let anybody who registers the name on a public index replace the
    agent. A lone sdist is installed by its URL: building it needs setuptools, which pip then
    fetches from its configured index.
    """
    sdists = [file.name for file in files if file.project == AGENT and not file.is_wheel]
    if sdists and not any(file.is_wheel for file in files):
        return f'pip install "flamewatch-agent @ {server}/agents/python/{sdists[-1]}"'
    trust = _trust(server)
    return f"pip install --no-index --find-links {server}/agents/python/{trust} flamewatch-agent"


def _trust(server: str) -> str:
    """Return `--trusted-host` for plain HTTP, which pip rejects as a source of links without it."""
    parts = urlsplit(server)
    if parts.scheme == "https" or parts.hostname in _OWN_MACHINE:
        return ""
    return f" --trusted-host {parts.netloc}"
