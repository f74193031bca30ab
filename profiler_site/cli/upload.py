"""`flamewatch upload FILE…`: import files of other profilers into a service, or look at them."""

import gzip
import json
import os
import sys
import urllib.error
import urllib.request
from argparse import Namespace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from profiler_site.cli.command import CommandFailed, error_text
from profiler_site.process import server_address
from projects.credentials.keys import KEY_PREFIX

KEY_VARIABLE = "FLAMEWATCH_KEY"
_TIMEOUT_SECONDS = 300  # an import waits for those before it
_GZIP = b"\x1f\x8b"
_OPTIONS = ("service", "type", "format", "unit", "time", "duration", "version", "zone", "language")


def run(options: Namespace) -> int:
    """Send each file and print its profiles; return 1 if any was not imported."""
    if bool(options.service) == options.view:
        raise CommandFailed("Use either --service with a name, or --view.")
    key = _key(options)
    url = _url(options)
    results = []
    for name in options.files:
        title = urlencode({"snapshot": Path(name).name}) if options.view else ""
        results.append(_result(name, "&".join(filter(None, [url, title])), key))
        if not options.json:
            _print(results[-1])
    if options.json:
        print(json.dumps({"files": results}))
    return 1 if any("error" in result for result in results) else 0


def _result(name: str, url: str, key: str) -> dict[str, Any]:
    """Send a file; return the server's response, or the reason of its failure as `error`."""
    try:
        return {"file": name, **_send(name, url, key)}
    except CommandFailed as failure:
        return {"file": name, "error": str(failure)}


def _print(result: dict[str, Any]) -> None:
    if "error" in result:
        print(f"flamewatch: {result['file']}: {result['error']}", file=sys.stderr)
        return
    print(f"{result['file']} ({result['format']})")
    for profile in result["profiles"]:
        metric = profile["metrics"][0]
        total = f"{metric['name']} {metric['total']:,} {metric['unit']}"
        print(f"  {profile['type']}: {profile['samples']:,} samples, {total}")
        print(f"    {profile['url']}")
        for warning in profile["warnings"]:
            print(f"    Warning: {warning}")


def _key(options: Namespace) -> str:
    try:
        text = Path(options.key_file).read_text() if options.key_file else ""
    except (OSError, UnicodeDecodeError) as error:
        if options.key_file.startswith(KEY_PREFIX):
            raise CommandFailed(
                "--key-file takes the name of a file that has the API key. To use a key itself, "
                f"set {KEY_VARIABLE}."
            ) from None
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise CommandFailed(f"Cannot read the API key in {options.key_file}: {reason}.") from None
    key = text.strip() or os.environ.get(KEY_VARIABLE, "")
    if not key:
        raise CommandFailed(
            f"There is no API key. Set {KEY_VARIABLE}, or use --key-file with the name of a file "
            "that has one. `flamewatch key create PROJECT --scope write` creates a key."
        )
    return key


def _url(options: Namespace) -> str:
    given = {name: getattr(options, name) for name in _OPTIONS}
    pairs = [(name, value) for name, value in given.items() if value]
    for label in options.label:
        name, sign, value = label.partition("=")
        if not sign:
            raise CommandFailed(f"--label {label}: write it as NAME=VALUE.")
        pairs.append((f"label.{name}", value))
    server = (options.url or server_address.find_server_url()).rstrip("/")
    if not server.startswith(("http://", "https://")):
        raise CommandFailed(f"--url {server}: the URL has to begin with http:// or https://.")
    address = urlsplit(server)
    if address.path or address.query or address.fragment:
        raise CommandFailed(
            f"--url {server}: use the server's URL without a path: "
            f"{address.scheme}://{address.netloc}"
        )
    project = quote(options.project, safe="")
    return f"{server}/api/v1/projects/{project}/profiles:import?{urlencode(pairs)}"


def _send(name: str, url: str, key: str) -> dict[str, Any]:
    try:
        body = Path(name).read_bytes()
    except OSError as error:
        raise CommandFailed(f"Cannot read the file: {error.strerror}.") from None
    if not body:
        raise CommandFailed("The file is empty.")
    request = urllib.request.Request(  # noqa: S310  _url allows http and https only
        url,
        data=body if body.startswith(_GZIP) else gzip.compress(body, mtime=0),
        headers={
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/octet-stream",
            "User-Agent": "flamewatch-upload",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310
            found: dict[str, Any] = json.load(response)
            return found
    except urllib.error.HTTPError as error_response:
        raise CommandFailed(error_text(error_response)) from None
    except OSError as error:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        reason = (cause.strerror if isinstance(cause, OSError) else None) or cause
        raise CommandFailed(
            f"No server responds at {_get_server(url)}: {reason}. Check --url, or FLAMEWATCH_URL, "
            "and whether the server runs."
        ) from None
    except ValueError:
        raise CommandFailed(f"{_get_server(url)} is not a Flamewatch server.") from None


def _get_server(url: str) -> str:
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc}"
