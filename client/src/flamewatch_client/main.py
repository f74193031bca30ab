"""`flamewatch`: parse the arguments and run one command.

Distributions add commands of their own by an entry point of the group `flamewatch.commands`, which
is called with the subparsers; the server's does.
"""

import os
import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import entry_points

from flamewatch_client import (
    check_command,
    completion,
    export_command,
    finding_commands,
    login_command,
    profile_commands,
    project_commands,
    search_command,
    stored_login,
    webhook_commands,
)
from flamewatch_client import upload_command as upload
from flamewatch_client.command_groups import add_group
from flamewatch_client.connection import ServerConnection
from flamewatch_client.errors import RequestFailed

Run = Callable[[Namespace], int]
RunConnected = Callable[[Namespace, ServerConnection], int]
AddArguments = Callable[[ArgumentParser], None]

# Commands that find server and key by rules of their own, or need none.
UNCONNECTED: dict[str, tuple[str, AddArguments, Run]] = {
    "login": ("store a personal access token", login_command.add_login, login_command.run_login),
    "check": (
        "fail if a version is slower than another",
        check_command.add_check,
        check_command.check,
    ),
    "upload": ("import files of other profilers", upload.add_upload, upload.upload),
}
COMMANDS: dict[str, tuple[str, AddArguments, RunConnected]] = {
    "services": (
        "list the services of a project",
        profile_commands.add_services,
        profile_commands.list_services,
    ),
    "top": ("list the functions", profile_commands.add_top, profile_commands.print_top),
    "flame": ("draw a flame graph", profile_commands.add_flame, profile_commands.print_flame),
    "diff": (
        "compare two versions or time ranges",
        profile_commands.add_diff,
        profile_commands.print_diff,
    ),
    "download": (
        "save merged profiles to a file",
        profile_commands.add_download,
        profile_commands.download,
    ),
    "search": (
        "show a function's cost in all services",
        search_command.add_search,
        search_command.print_search,
    ),
    "regressions": (
        "list the changes that the server found by itself",
        finding_commands.add_regressions,
        finding_commands.print_regressions,
    ),
    "keys list": (
        "list the API keys",
        project_commands.add_nothing,
        project_commands.list_keys,
    ),
    "keys create": (
        "create an API key and print it once",
        project_commands.add_key_create,
        project_commands.create_key,
    ),
    "keys rotate": (
        "replace an API key",
        project_commands.add_key,
        project_commands.rotate_key,
    ),
    "keys revoke": (
        "revoke an API key",
        project_commands.add_key,
        project_commands.revoke_key,
    ),
    "members list": (
        "list the members",
        project_commands.add_nothing,
        project_commands.list_members,
    ),
    "members invite": ("invite people", project_commands.add_invite, project_commands.invite),
    "members role": (
        "change the role of a member",
        project_commands.add_role,
        project_commands.change_role,
    ),
    "members remove": (
        "remove a member",
        project_commands.add_member,
        project_commands.remove_member,
    ),
    "export": (
        "download an archive of the whole project",
        export_command.add_export,
        export_command.export,
    ),
    "webhooks list": (
        "list the webhooks",
        project_commands.add_nothing,
        webhook_commands.list_webhooks,
    ),
    "webhooks create": (
        "create a webhook and print its secret once",
        webhook_commands.add_create,
        webhook_commands.create_webhook,
    ),
    "webhooks rotate": (
        "make a new secret",
        webhook_commands.add_webhook,
        webhook_commands.rotate_secret,
    ),
    "webhooks test": (
        "send a test message",
        webhook_commands.add_webhook,
        webhook_commands.send_test,
    ),
    "webhooks delete": (
        "delete a webhook",
        webhook_commands.add_webhook,
        webhook_commands.delete_webhook,
    ),
    "audit": ("list the audit log", project_commands.add_audit, project_commands.print_audit),
}
GROUPS = {
    "keys": "manage API keys",
    "members": "manage members",
    "webhooks": "manage webhooks",
}
BROKEN_PIPE = 141  # as of a program that SIGPIPE ended


class CommandParser(ArgumentParser):
    """Parser whose commands show their own usage if an argument is unknown.

    By default, the parser of all commands reports it, with the usage of none of them.
    """

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 on success, 1 on failure unless the command has another code for it.

    Exit with 2 for invalid arguments.
    """
    parser = build_parser()
    options = parser.parse_args(argv)
    try:
        return int(options.run(options))
    except RequestFailed as failure:
        print(f"flamewatch: {failure}", file=sys.stderr)
        return int(vars(options).get("failure_code", 1))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The interpreter flushes standard output once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def build_parser() -> ArgumentParser:
    parser: ArgumentParser = CommandParser(
        prog="flamewatch", description="Use a Flamewatch server."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for point in entry_points(group="flamewatch.commands"):
        point.load()(commands)
    for name, (help_text, add_arguments, run) in UNCONNECTED.items():
        _add_command(commands, name, help_text, add_arguments, run)
    for name, (help_text, add_arguments, run_connected) in COMMANDS.items():
        run = partial(run_with_connection, run_connected)
        _add_command(commands, name, help_text, add_arguments, run)
    one = commands.add_parser("completion", help="print the completion script of a shell")
    completion.add_completion(one)
    one.set_defaults(run=lambda options: completion.print_completion(options, parser))
    return parser


def _add_command(
    commands: "_SubParsersAction[ArgumentParser]",
    name: str,
    help_text: str,
    add_arguments: AddArguments,
    run: Run,
) -> None:
    """Add a command, unless a distribution has one of this name."""
    group, _, last = name.rpartition(" ")
    parent = add_group(commands, group, GROUPS[group]) if group else commands
    if last in parent.choices:
        return
    one = parent.add_parser(last, parents=[make_common_options()], help=help_text)
    add_arguments(one)
    one.set_defaults(run=run)


def make_common_options() -> ArgumentParser:
    """Return a parser with the options of each command, to be a parent of others."""
    common = ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON")
    common.add_argument("--url", help="URL of the server (default: FLAMEWATCH_URL, or login)")
    common.add_argument("--project", help="project id (default: FLAMEWATCH_PROJECT, or login)")
    common.add_argument("--ca-file", metavar="FILE", help="certificates of trusted CAs (PEM)")
    common.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS", help="(default: %(default)g)"
    )
    return common


def run_with_connection(run: RunConnected, options: Namespace) -> int:
    """Run a command with the server and the token that options, variables or the login name."""
    return run(options, stored_login.connect(options))


if __name__ == "__main__":
    sys.exit(main())
