"""`flamewatch capture PROJECT SERVICE TYPE`: request a profile from the running server."""

import json
import urllib.error
import urllib.request
from argparse import Namespace

from profiler_site.cli.command import CommandFailed, answer
from profiler_site.process import server_address
from projects.credentials import operator_token

_TIMEOUT_SECONDS = 10


def run(options: Namespace) -> int:
    url = f"{server_address.of_running_server()}/api/v1/projects/{options.project}/capture"
    request = urllib.request.Request(  # noqa: S310  the operator's own server
        url,
        data=json.dumps({"service": options.service, "type": options.type}).encode(),
        headers={
            "Authorization": f"Bearer {operator_token.make(options.project)}",
            "Content-Type": "application/json",
        },
    )
    asked = _send(request)
    text = f"Asked: the next free agent of {options.service} captures {options.type} now."
    return answer(options, text, asked)


def _send(request: urllib.request.Request) -> dict[str, object]:
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310
            asked: dict[str, object] = json.load(response)
            return asked
    except urllib.error.HTTPError as refusal:
        raise CommandFailed(_reason(refusal)) from None
    except OSError as error:
        raise CommandFailed(
            f"No server answers at {request.full_url}: {error}. Is `flamewatch up` running?"
        ) from None


def _reason(refusal: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(refusal)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"The server answered {refusal.code} {refusal.reason}."
