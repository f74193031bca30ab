"""`flamewatch keys rotate --local KEY`: replace an API key by one with the same permissions."""

from argparse import Namespace

from profiler_site.cli.command import CommandFailed, print_result
from profiler_site.cli.key_revoke import find_key
from projects.account_limits import LimitReached
from projects.audit import COMMAND_LINE
from projects.credentials import keys


def run(options: Namespace) -> int:
    row = find_key(options.key)
    try:
        new, text = keys.rotate(row, origin=COMMAND_LINE)
    except (keys.KeyNotRotated, LimitReached) as failure:
        raise CommandFailed(str(failure)) from None
    return print_result(options, text, {"project": new.project.project_id, "key": text})
