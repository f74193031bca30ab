"""`flamewatch upload FILE…`: import files of other profilers into a service, or look at them."""

import gzip
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from flamewatch_client import stored_login
from flamewatch_client.connection import TOKEN_PREFIX, Pairs, ServerConnection, check_url
from flamewatch_client.errors import RequestFailed
from flamewatch_client.selection import read_labels
from flamewatch_client.stored_login import Login
from flamewatch_client.terminal import make_printable, print_json

KEY_VARIABLE = "FLAMEWATCH_KEY"
_KEY_PREFIXES = ("fw_", TOKEN_PREFIX)
_TIMEOUT_SECONDS = 300  # an import waits for those before it
_GZIP = b"\x1f\x8b"
_OPTIONS = ("service", "type", "format", "unit", "time", "duration", "version", "zone", "language")


def add_upload(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="file to import, gzipped or not")
    parser.add_argument("--service", help="name of the service")
    parser.add_argument(
        "--view",
        action="store_true",
        help="open the file as a snapshot, without a service, and print its URL",
    )
    parser.add_argument(
        "--key-file",
        metavar="FILE",
        help="file with an API key that may write (default: FLAMEWATCH_KEY, then the login)",
    )
    parser.add_argument("--type", help="profile type, if the file does not state it")
    parser.add_argument("--format", help="format, if the content does not show it")
    parser.add_argument("--unit", help="unit of the values, if the file does not state it")
    parser.add_argument("--time", help="start, if the file does not state it (RFC 3339)")
    parser.add_argument("--duration", help="duration, if the file does not state it, like 30s")
    parser.add_argument("--version", help="version of the service")
    parser.add_argument("--zone", help="zone in which the service ran")
    parser.add_argument("--language", help="programming language of the service")
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="label of the profiles; repeat the option for several",
    )


def upload(options: Namespace) -> int:
    """Upload to the server of `--url`, or of the login."""
    url = options.url or stored_login.load().url
    return upload_files(options, url)


def upload_files(options: Namespace, url: str) -> int:
    """Send each file and print its profiles; return 1 if any was not imported."""
    if bool(options.service) == options.view:
        raise RequestFailed("Use either --service with a name, or --view.")
    login = stored_login.load(url)
    connection = ServerConnection(
        check_url(url),
        _read_key(options, login),
        options.project or login.project,
        options.ca_file or login.ca_file,
        _TIMEOUT_SECONDS,
    )
    pairs = _list_parameters(options)
    results = []
    for name in options.files:
        title = [("snapshot", Path(name).name)] if options.view else []
        results.append(_upload_file(name, [*pairs, *title], connection))
        if not options.json:
            _print_result(results[-1])
    if options.json:
        print_json({"files": results})
    return 1 if any("error" in result for result in results) else 0


def _upload_file(name: str, pairs: Pairs, connection: ServerConnection) -> dict[str, Any]:
    """Send a file; return the server's response, or the reason of its failure as `error`."""
    try:
        body = Path(name).read_bytes()
        if not body:
            return {"file": name, "error": "The file is empty."}
        packed = body if body.startswith(_GZIP) else gzip.compress(body, mtime=0)
        path = connection.project_path("profiles:import")
        return {"file": name, **connection.read_json("POST", path, pairs, packed)}
    except OSError as error:
        return {"file": name, "error": f"Cannot read the file: {error.strerror}."}
    except RequestFailed as failure:
        return {"file": name, "error": str(failure)}


def _print_result(result: dict[str, Any]) -> None:
    if "error" in result:
        print(f"flamewatch: {result['file']}: {result['error']}", file=sys.stderr)
        return
    print(f"{result['file']} ({result['format']})")
    for profile in result["profiles"]:
        metric = profile["metrics"][0]
        total = f"{metric['name']} {metric['total']:,} {metric['unit']}"
        samples = f"{profile['samples']:,} samples"
        print(make_printable(f"  {profile['type']}: {samples}, {total}"))
        print(f"    {profile['url']}")
        for warning in profile["warnings"]:
            print(make_printable(f"    Warning: {warning}"))


def _read_key(options: Namespace, login: Login) -> str:
    """Return an API key, or else the personal access token of the login."""
    try:
        text = Path(options.key_file).read_text() if options.key_file else ""
    except (OSError, UnicodeDecodeError) as error:
        if options.key_file.startswith(_KEY_PREFIXES):
            raise RequestFailed(
                "--key-file takes the name of a file that has the API key. To use a key itself, "
                f"set {KEY_VARIABLE}."
            ) from None
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise RequestFailed(f"Cannot read the API key in {options.key_file}: {reason}.") from None
    key = text.strip() or os.environ.get(KEY_VARIABLE, "") or login.token
    if not key:
        raise RequestFailed(
            f"There is no API key. Run `flamewatch login`, set {KEY_VARIABLE}, or use --key-file "
            "with the name of a file that has one. `flamewatch keys create NAME --scope write` "
            "creates a key."
        )
    return key


def _list_parameters(options: Namespace) -> list[tuple[str, str]]:
    given = vars(options)
    pairs = [(name, given[name]) for name in _OPTIONS if given[name]]
    return pairs + read_labels(options.label)
