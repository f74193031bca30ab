"""Table of commands with their arguments, and the modules that implement them.

A module is imported only when its command runs, because it needs django.setup() first.
"""

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace, _SubParsersAction
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from typing import cast
from urllib.error import HTTPError

from flamewatch_client.command_groups import add_group
from flamewatch_client.project_commands import parse_days
from flamewatch_client.upload_command import add_upload

Run = Callable[[Namespace], int]
_LAST_PORT = 65535


class CommandFailed(Exception):
    """Failure of a command; the text says why and what to do."""


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _LAST_PORT:
        raise ArgumentTypeError(f"invalid port {text!r}; use 1 to {_LAST_PORT}")
    return int(text)


def _no_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def _account(parser: ArgumentParser) -> None:
    parser.add_argument("email", metavar="EMAIL", help="e-mail address of the account")
    parser.add_argument(
        "--password-stdin",
        action="store_true",
        required=True,
        help="read the password from the first line of standard input (required)",
    )


def _user_create(parser: ArgumentParser) -> None:
    _account(parser)
    parser.add_argument(
        "--admin", action="store_true", help="allow the account to use the admin at /admin/"
    )


def _user_password(parser: ArgumentParser) -> None:
    _account(parser)


def _project_create(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="display name; the project id is derived from it"
    )
    parser.add_argument(
        "--owner", required=True, metavar="EMAIL", help="account that owns the project"
    )


def _key_create(parser: ArgumentParser) -> None:
    parser.add_argument("project", metavar="PROJECT", help="project id")
    parser.add_argument(
        "--scope",
        action="append",
        choices=["write", "read"],
        required=True,
        help="agents need write, programs that query need read; repeat the option for both",
    )
    parser.add_argument(
        "--name", default="command line", help="name shown in the settings (default: %(default)s)"
    )
    parser.add_argument(
        "--default-service",
        default="",
        metavar="SERVICE",
        help="service of profiles that name none, such as those of OpenTelemetry's profilers",
    )
    parser.add_argument(
        "--service",
        action="append",
        default=[],
        metavar="NAME",
        help="allowed service, in which * matches any text; repeat the option for several"
        " (default: all services)",
    )
    parser.add_argument(
        "--expires-in",
        type=parse_days,
        metavar="DAYS",
        help="days until the key expires (default: never)",
    )


def _key_list(parser: ArgumentParser) -> None:
    parser.add_argument("project", metavar="PROJECT", help="project id")


def _key_revoke(parser: ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="prefix of the key, as `key list` prints it")


def _up(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--port", type=_port, default=8000, help="port to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--demo", action="store_true", help="create a demo project and start example services"
    )


def _capture(parser: ArgumentParser) -> None:
    parser.add_argument("project", metavar="PROJECT", help="project id")
    parser.add_argument("service", metavar="SERVICE", help="name of the service")
    parser.add_argument(
        "type",
        metavar="TYPE",
        help="profile type: CPU, WALL, HEAP, HEAP_ALLOC, CONTENTION or THREADS",
    )


def _upload(parser: ArgumentParser) -> None:
    parser.add_argument("--project", help="project id (default: the project of the API key)")
    parser.add_argument("--url", help="address of the server (default: FLAMEWATCH_URL)")
    parser.add_argument("--ca-file", metavar="FILE", help="certificates of trusted CAs (PEM)")
    add_upload(parser)


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"invalid time {text!r}; use 2026-11-20T12:00, of UTC") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _analyze(parser: ArgumentParser) -> None:
    parser.add_argument("--project", metavar="PROJECT", help="project id (default: all projects)")
    parser.add_argument(
        "--at",
        type=_time,
        metavar="TIME",
        help="analyze the profiles up to the last midnight or noon of UTC before (default: now)",
    )


def _backup(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", help="folder for the backup: new, or with an older backup"
    )


def _restore(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="folder with a backup")
    parser.add_argument(
        "--replace",
        action="store_true",
        help="delete the accounts, projects and profiles that the target has",
    )
    parser.add_argument(
        "--check", action="store_true", help="verify the backup, and restore nothing"
    )


ARGUMENTS: dict[str, Callable[[ArgumentParser], None]] = {
    "up": _up,
    "version": _no_arguments,
    "migrate": _no_arguments,
    "doctor": _no_arguments,
    "user create": _user_create,
    "user password": _user_password,
    "project create": _project_create,
    "key create": _key_create,
    "key list": _key_list,
    "key revoke": _key_revoke,
    "key generate": _no_arguments,
    "capture": _capture,
    "upload": _upload,
    "analyze": _analyze,
    "backup": _backup,
    "restore": _restore,
}
# Commands that need no settings and no data folder.
WITHOUT_DJANGO = frozenset({"key generate"})
HELP = {
    "up": "start the server",
    "version": "print the version",
    "migrate": "create or update the database",
    "doctor": "check settings, files and services without starting the server",
    "user create": "create an account",
    "user password": "set the password of an account",
    "project create": "create a project",
    "key create": "create an API key and print it once",
    "key list": "list the API keys of a project",
    "key revoke": "revoke an API key",
    "key generate": "print a new API key for FLAMEWATCH_INIT_API_KEY, without a database",
    "user": "manage accounts",
    "project": "manage projects",
    "key": "older names of `keys … --local`",
    "capture": "request one profile from the next free agent of a service",
    "upload": "import files of other profilers",
    "analyze": "look for functions whose cost changed, now",
    "backup": "back up the database and the blobs, while the server runs",
    "restore": "restore a backup to an empty installation",
}


def add_server_commands(commands: "_SubParsersAction[ArgumentParser]") -> None:
    """Add the commands that work on this server's database and data folder."""
    common = ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print the result as JSON")
    add_data_dir(common)
    for name, add_arguments in ARGUMENTS.items():
        words = name.split()
        parent = add_group(commands, words[0], HELP[words[0]]) if len(words) == 2 else commands
        one = parent.add_parser(words[-1], parents=[common], help=HELP[name])
        add_arguments(one)
        one.set_defaults(command=name, run=run_server_command)


def add_data_dir(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--data-dir", metavar="FOLDER", help="data folder of the server (default: ./data)"
    )


def run_server_command(options: Namespace) -> int:
    """Run a command; Django is imported only then."""
    run_command: Run = import_module("profiler_site.cli.main").run_command
    return run_command(options)


def load(name: str) -> Run:
    """Return the function that runs a command, from its module in this package."""
    module = import_module(f"profiler_site.cli.{name.replace(' ', '_')}")
    return cast("Run", module.run)


def print_result(options: Namespace, text: str, data: dict[str, object]) -> int:
    """Print a command's result: a sentence for people, JSON for programs."""
    print(json.dumps(data) if options.json else text)
    return 0


def error_text(response: HTTPError) -> str:
    """Return the message of an error response of a Flamewatch server, or its status."""
    try:
        return str(json.load(response)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"The server responded with {response.code} {response.reason}."
