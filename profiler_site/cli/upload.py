"""`flamewatch upload FILE…`: the client's command, by default to the server of the data folder."""

from argparse import Namespace

from flamewatch_client import upload_command
from flamewatch_client.errors import RequestFailed
from profiler_site.cli.command import CommandFailed
from profiler_site.process import server_address


def run(options: Namespace) -> int:
    try:
        return upload_command.upload_files(options, options.url or server_address.find_server_url())
    except RequestFailed as failure:
        raise CommandFailed(str(failure)) from None
