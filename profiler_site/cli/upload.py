"""`flamewatch upload FILE…`: the client's command, by default to the server of the data folder."""

import os
from argparse import Namespace

from flamewatch_client import stored_login, upload_command
from flamewatch_client.errors import RequestFailed
from profiler_site.cli.command import CommandFailed
from profiler_site.process import server_address


def run(options: Namespace) -> int:
    """Upload with a key to the server of the data folder, without one to that of the login."""
    has_key = options.key_file or os.environ.get(upload_command.KEY_VARIABLE)
    try:
        login_url = "" if has_key else stored_login.load().url
        url = options.url or login_url or server_address.find_server_url()
        return upload_command.upload_files(options, url)
    except RequestFailed as failure:
        raise CommandFailed(str(failure)) from None
