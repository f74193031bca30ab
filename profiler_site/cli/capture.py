"""`flamewatch capture PROJECT SERVICE TYPE`: request a profile from the running server."""

import json
import urllib.error
import urllib.request
from argparse import Namespace

from profiler_site.cli.command import CommandFailed, error_text, print_result
from profiler_site.process import server_address
from projects.credentials import operator_token

_TIMEOUT_SECONDS = 10


def run(options: Namespace) -> int:
    url = f"{server_address.find_server_url()}/api/v1/projects/{options.project}/capture"
    request = urllib.request.Request(  # noqa: S310  the operator's own server
        url,
        data=json.dumps({"service": options.service, "type": options.type}).encode(),
        headers={
            "Authorization": f"Bearer {operator_token.make(options.project)}",
            "Content-Type": "application/json",
        },
    )
    capture = _send(request)
    text = f"Requested a {options.type} profile from the next free agent of {options.service}."
    return print_result(options, text, capture)


def _send(request: urllib.request.Request) -> dict[str, object]:
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310
            capture: dict[str, object] = json.load(response)
            return capture
    except urllib.error.HTTPError as error_response:
        raise CommandFailed(error_text(error_response)) from None
    except OSError as error:
        raise CommandFailed(
            f"No server responds at {request.full_url}: {error}. Is `flamewatch up` running?"
        ) from None
