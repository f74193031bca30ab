"""Installation commands for one server and one key, shown to be pasted verbatim."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from frontend.pages.agent_files.files import AGENT, AgentFile

# Placeholder for a key's secret, which is shown only once, when the key is created.
KEY_PLACEHOLDER = "fw_…"
SERVICE = "my-service"
COMMAND = "python app.py"
_OWN_MACHINE = {"127.0.0.1", "localhost", "::1"}


_MACHINES = {"x86_64": "x86-64", "aarch64": "ARM64"}
# manylinux_2_17_x86_64, musllinux_1_2_aarch64, or linux_x86_64 of a wheel for one machine
_TAG = re.compile(r"(?P<libc>many|musl)?linux_((?P<version>\d+_\d+)_)?(?P<machine>\w+)")
_LIBC = {"many": "glibc", "musl": "musl"}


@dataclass(frozen=True, slots=True)
class InstallCommands:
    install: str
    run: str
    code: str
    check: str  # command that tests whether the host can reach the server
    platforms: list[str]  # platforms of the served wheels; others build the agent from its source


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
        platforms=_platforms(files),
    )


def _platforms(files: list[AgentFile]) -> list[str]:
    """Return the platforms of the agent's wheels, like `x86-64 with glibc 2.17 or newer`."""
    found = []
    for file in files:
        tag = _TAG.search(file.name) if file.project == AGENT and file.is_wheel else None
        if tag:
            machine = _MACHINES.get(tag["machine"], tag["machine"])
            found.append(_with_library(machine, tag["libc"], tag["version"]))
    return found


def _with_library(machine: str, libc: str | None, version: str | None) -> str:
    if not libc or not version:
        return machine
    values = {"machine": machine, "library": f"{_LIBC[libc]} {version.replace('_', '.')}"}
    return _("%(machine)s with %(library)s or newer") % values


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
