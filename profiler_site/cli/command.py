"""The table of commands: their arguments, and the module that does each.

The modules are loaded only when their command runs: they need Django to be set up.
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from importlib import import_module
from typing import cast

Run = Callable[[Namespace], int]


class CommandFailed(Exception):
    """The command could not do its work; the text says why and what to do."""


def _no_arguments(parser: ArgumentParser) -> None:
    """The command takes none of its own."""


def _user_create(parser: ArgumentParser) -> None:
    parser.add_argument("email")
    parser.add_argument("--password-stdin", action="store_true", required=True)
    parser.add_argument("--admin", action="store_true", help="may use the admin")


def _user_password(parser: ArgumentParser) -> None:
    parser.add_argument("email")
    parser.add_argument("--password-stdin", action="store_true", required=True)


def _project_create(parser: ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--owner", required=True, metavar="EMAIL")


def _key_create(parser: ArgumentParser) -> None:
    parser.add_argument("project")
    parser.add_argument("--scope", choices=["write", "read"], required=True)
    parser.add_argument("--name", default="command line")


def _up(parser: ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--demo", action="store_true", help="with example services")


def _capture(parser: ArgumentParser) -> None:
    parser.add_argument("project")
    parser.add_argument("service")
    parser.add_argument("type", metavar="TYPE", help="CPU, WALL, HEAP, …")


ARGUMENTS: dict[str, Callable[[ArgumentParser], None]] = {
    "up": _up,
    "version": _no_arguments,
    "migrate": _no_arguments,
    "user create": _user_create,
    "user password": _user_password,
    "project create": _project_create,
    "key create": _key_create,
    "capture": _capture,
}
HELP = {
    "up": "serve: everything in one process",
    "version": "print the version",
    "migrate": "create or update the database",
    "user create": "add a person; the password is read from standard input",
    "user password": "set a person's password, read from standard input",
    "project create": "add a project",
    "key create": "add an API key; it is printed once",
    "capture": "have a service's next free agent capture a profile now",
}


def load(name: str) -> Run:
    """The function that runs a command, from its module in this package."""
    module = import_module(f"profiler_site.cli.{name.replace(' ', '_')}")
    return cast("Run", module.run)


def answer(options: Namespace, text: str, data: dict[str, object]) -> int:
    """Print a command's result: a sentence for people, JSON for programs."""
    print(json.dumps(data) if options.json else text)
    return 0
