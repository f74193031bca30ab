"""Commands that manage the webhooks of a project."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any
from urllib.parse import quote

from flamewatch_client.connection import ServerConnection
from flamewatch_client.terminal import format_time, print_done, print_json, print_table


def list_webhooks(options: Namespace, connection: ServerConnection) -> int:
    document = connection.get(connection.project_path("webhooks"))
    if options.json:
        return print_json(document)
    rows = [
        (
            row["id"],
            row["name"],
            row["format"],
            ",".join(row["kinds"]),
            _name_state(row),
            row["url"],
        )
        for row in document["rows"]
    ]
    print_table(("WEBHOOK", "NAME", "FORMAT", "EVENTS", "STATE", "URL"), rows)
    return 0


def _name_state(row: dict[str, Any]) -> str:
    if not row["enabled"]:
        return "off"
    return f"failing since {format_time(row['failing_since'])}" if row["failing_since"] else "on"


def add_create(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name shown in the settings")
    parser.add_argument("address", metavar="ADDRESS", help="URL that gets the messages")
    parser.add_argument("--format", choices=["generic", "slack"], default="generic")
    parser.add_argument(
        "--kind",
        action="append",
        metavar="KIND",
        help="kind of event; may be repeated (default: all)",
    )


def create_webhook(options: Namespace, connection: ServerConnection) -> int:
    body = {"name": options.name, "url": options.address, "format": options.format}
    if options.kind:
        body["kinds"] = options.kind
    document = connection.change("POST", connection.project_path("webhooks"), body)
    return _print_secret(options, document)


def add_webhook(parser: ArgumentParser) -> None:
    parser.add_argument("webhook", metavar="WEBHOOK", help="id, as `webhooks list` prints it")


def rotate_secret(options: Namespace, connection: ServerConnection) -> int:
    return _print_secret(options, connection.change("POST", _path(options, connection, "/rotate")))


def _print_secret(options: Namespace, document: dict[str, Any]) -> int:
    if options.json:
        return print_json(document)
    print(document["secret"])  # alone on standard output, for scripts
    print("The secret is shown once. Store it now.", file=sys.stderr)
    return 0


def send_test(options: Namespace, connection: ServerConnection) -> int:
    connection.change("POST", _path(options, connection, "/test"))
    return print_done(options, "A test message is sent within a minute.")


def delete_webhook(options: Namespace, connection: ServerConnection) -> int:
    connection.change("DELETE", _path(options, connection))
    return print_done(options, f"Deleted {options.webhook}.")


def _path(options: Namespace, connection: ServerConnection, action: str = "") -> str:
    return connection.project_path(f"webhooks/{quote(options.webhook, safe='')}{action}")
