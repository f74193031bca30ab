"""Commands that this distribution adds to the client's script, `flamewatch`.

They are the server's, and those on API keys, which with `--local` work on this server's database.
Without it they use the management API, as on a machine that has the client alone.
"""

import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from functools import partial

from flamewatch_client.command_groups import add_group
from flamewatch_client.main import COMMANDS, GROUPS, make_common_options, run_with_connection
from profiler_site.cli import command

_KEY_ACTIONS = ("list", "create", "rotate", "revoke")
_OF_A_PROJECT = ("list", "create")


def add_commands(commands: "_SubParsersAction[ArgumentParser]") -> None:
    """Add the commands: the entry point of the group `flamewatch.commands`."""
    command.add_server_commands(commands)
    group = add_group(commands, "keys", GROUPS["keys"])
    for action in _KEY_ACTIONS:
        help_text, add_arguments, _run = COMMANDS[f"keys {action}"]
        one = group.add_parser(action, parents=[make_common_options()], help=help_text)
        add_arguments(one)
        one.add_argument(
            "--local",
            action="store_true",
            help="work on the database of the server on this machine, without a login",
        )
        command.add_data_dir(one)
        one.set_defaults(run=partial(_run_key_command, action))
    one = group.add_parser("generate", help=command.HELP["key generate"])
    one.add_argument("--json", action="store_true", help="print the result as JSON")
    one.set_defaults(command="key generate", data_dir=None, run=command.run_server_command)


def _run_key_command(action: str, options: Namespace) -> int:
    if not options.local:
        return run_with_connection(COMMANDS[f"keys {action}"][2], options)
    if action in _OF_A_PROJECT and not options.project:
        print("flamewatch: --local needs --project PROJECT.", file=sys.stderr)
        return 2
    options.command = f"key {action}"
    return command.run_server_command(options)
