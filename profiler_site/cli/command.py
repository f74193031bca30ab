"""Table of commands with their arguments, and the modules that implement them.

A module is imported only when its command runs, because it needs django.setup() first.
"""

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from importlib import import_module
from typing import cast

Run = Callable[[Namespace], int]
_LAST_PORT = 65535


class CommandFailed(Exception):
    """Failure of a command; the text says why and what to do."""


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _LAST_PORT:
        raise ArgumentTypeError(f"{text!r} is no port; it has to be from 1 to {_LAST_PORT}")
    return int(text)


def _no_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def _user_create(parser: ArgumentParser) -> None:
    parser.add_argument("email")
    parser.add_argument(
        "--password-stdin", action="store_true", required=True, help="the only way it is read"
    )
    parser.add_argument("--admin", action="store_true", help="may use the admin")


def _user_password(parser: ArgumentParser) -> None:
    parser.add_argument("email")
    parser.add_argument(
        "--password-stdin", action="store_true", required=True, help="the only way it is read"
    )


def _project_create(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="as people call it; its id is made from that")
    parser.add_argument("--owner", required=True, metavar="EMAIL", help="of an account")


def _key_create(parser: ArgumentParser) -> None:
    parser.add_argument("project", help="its id")
    parser.add_argument(
        "--scope",
        action="append",
        choices=["write", "read"],
        required=True,
        help="agents write, programs read; give it twice for a key that may do both",
    )
    parser.add_argument(
        "--name", default="command line", help="what the settings call it (default: %(default)s)"
    )


def _up(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)"
    )
    parser.add_argument("--port", type=_port, default=8000, help="(default: %(default)s)")
    parser.add_argument("--demo", action="store_true", help="with example services")


def _capture(parser: ArgumentParser) -> None:
    parser.add_argument("project", help="its id")
    parser.add_argument("service", help="as its agents call it")
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
    "user": "people who may sign in",
    "project": "whose services are profiled",
    "key": "what agents and programs come with",
    "capture": "have a service's next free agent capture a profile now",
}


def load(name: str) -> Run:
    """Return the function that runs a command, from its module in this package."""
    module = import_module(f"profiler_site.cli.{name.replace(' ', '_')}")
    return cast("Run", module.run)


def print_result(options: Namespace, text: str, data: dict[str, object]) -> int:
    """Print a command's result: a sentence for people, JSON for programs."""
    print(json.dumps(data) if options.json else text)
    return 0
