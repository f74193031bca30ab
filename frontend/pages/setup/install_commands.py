"""Installation commands for one server and one key, shown to be pasted verbatim."""

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from frontend.pages.agent_files.archives import GO_MODULE, java_packages, node_packages
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


class SetupStep(NamedTuple):
    """Text to paste: its heading, the language that it is written in, and the text."""

    heading: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherClient:
    """Client other than the Python agent, with the steps that connect it."""

    id: str
    name: str
    note: str
    steps: tuple[SetupStep, ...]


def other_clients(server: str, key: str) -> list[OtherClient]:
    """Return the clients that this server offers or accepts, with `server` and `key` filled in."""
    settings = f"export FLAMEWATCH_URL={server}\nexport FLAMEWATCH_KEY={key}\n"
    settings += f"export FLAMEWATCH_SERVICE={SERVICE}\n"
    return [_go(server, settings), *_node(server, settings), *_java(server, settings)]


def _go(server: str, settings: str) -> OtherClient:
    install = (
        f"export GOPROXY={server}/agents/go,$(go env GOPROXY) GONOSUMDB={GO_MODULE}\n"
        f"go get {GO_MODULE}"
    )
    code = (
        f'import flamewatch "{GO_MODULE}"\n\n'
        "agent := flamewatch.Start(flamewatch.Config{})\ndefer agent.Stop()"
    )
    steps = (
        SetupStep(_("Install the agent"), "Shell", install),
        SetupStep(_("Start the agent in your code"), "Go", code),
        SetupStep(_("Run your program with the agent"), "Shell", f"{settings}go run ."),
    )
    return OtherClient("go", "Go", _("1.22 or newer"), steps)


def _node(server: str, settings: str) -> list[OtherClient]:
    packages = node_packages()
    if not packages:
        return []
    run = f"{settings}node --require flamewatch-agent/start app.js"
    steps = (
        SetupStep(
            _("Install the agent"), "Shell", f"npm install {server}/agents/node/{packages[-1]}"
        ),
        SetupStep(_("Run your program with the agent"), "Shell", run),
        SetupStep(
            _("Or start the agent in your code"),
            "JavaScript",
            "require('flamewatch-agent').start();",
        ),
    )
    return [OtherClient("node", "Node.js", _("18 or newer"), steps)]


def _java(server: str, settings: str) -> list[OtherClient]:
    packages = java_packages()
    if not packages:
        return []
    jar = packages[-1]
    steps = (
        SetupStep(_("Install the agent"), "Shell", f"curl -O {server}/agents/java/{jar}"),
        SetupStep(
            _("Run your program with the agent"),
            "Shell",
            f"{settings}java -javaagent:{jar} -jar app.jar",
        ),
    )
    return [OtherClient("java", "Java", _("17 or newer"), steps)]


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
