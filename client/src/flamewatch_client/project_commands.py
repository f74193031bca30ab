"""Commands that manage a project: keys, members and audit."""

import csv
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from flamewatch_client.connection import ServerConnection
from flamewatch_client.errors import RequestFailed
from flamewatch_client.terminal import (
    format_time,
    print_done,
    print_json,
    print_table,
)

_ROLES = ["viewer", "member", "admin", "owner"]
_AUDIT_FIELDS = ("time", "actor_kind", "actor", "api_key", "action", "target", "address", "result")
_AUDIT_PAGE = 500
_LONGEST_LIFETIME_DAYS = 3650


def add_nothing(_parser: ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def list_keys(options: Namespace, connection: ServerConnection) -> int:
    document = connection.get(connection.project_path("keys"))
    if options.json:
        return print_json(document)
    rows = [
        (
            row["id"],
            row["name"],
            ",".join(row["scopes"]),
            ",".join(row["services"]) or "all",
            _name_state(row),
            format_time(row["expires"]),
            format_time(row["last_used"]),
        )
        for row in document["rows"]
    ]
    print_table(("KEY", "NAME", "SCOPE", "SERVICES", "STATE", "EXPIRES", "LAST USED"), rows)
    return 0


def _name_state(row: dict[str, Any]) -> str:
    if row["revoked"]:
        return "revoked"
    if row["expires"] and datetime.fromisoformat(row["expires"]) <= datetime.now(UTC):
        return "expired"
    return "rotated" if row["replaced_by"] else "active"


def parse_days(text: str) -> int:
    """Parse the lifetime of a key. Raise ArgumentTypeError."""
    if not text.isdecimal() or not 1 <= int(text) <= _LONGEST_LIFETIME_DAYS:
        raise ArgumentTypeError(f"invalid days {text!r}; use 1 to {_LONGEST_LIFETIME_DAYS}")
    return int(text)


def add_key_create(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name shown in the settings")
    parser.add_argument(
        "--scope",
        action="append",
        choices=["write", "read"],
        required=True,
        help="agents need write, programs that query need read; may be repeated",
    )
    parser.add_argument("--default-service", metavar="SERVICE", help="service of profiles without")
    parser.add_argument(
        "--service",
        action="append",
        default=[],
        metavar="NAME",
        help="allowed service, in which * is any text; may be repeated",
    )
    parser.add_argument("--expires-in", type=parse_days, metavar="DAYS", help="(default: never)")


def create_key(options: Namespace, connection: ServerConnection) -> int:
    body: dict[str, Any] = {
        "name": options.name,
        "scopes": options.scope,
        "services": options.service,
    }
    if options.default_service:
        body["default_service"] = options.default_service
    if options.expires_in is not None:
        expires = datetime.now(UTC) + timedelta(days=options.expires_in)
        body["expires"] = expires.isoformat()
    document = connection.change("POST", connection.project_path("keys"), body)
    return _print_key(options, document)


def add_key(parser: ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="id, as `keys list` prints it")


def rotate_key(options: Namespace, connection: ServerConnection) -> int:
    path = connection.project_path(f"keys/{quote(options.key, safe='')}/rotate")
    return _print_key(options, connection.change("POST", path))


def _print_key(options: Namespace, document: dict[str, Any]) -> int:
    if options.json:
        return print_json(document)
    print(document["key"])  # alone on standard output, for scripts
    print("The key is shown once. Store it now.", file=sys.stderr)
    return 0


def revoke_key(options: Namespace, connection: ServerConnection) -> int:
    connection.change("DELETE", connection.project_path(f"keys/{quote(options.key, safe='')}"))
    return print_done(options, f"Revoked {options.key}.")


def list_members(options: Namespace, connection: ServerConnection) -> int:
    document = connection.get(connection.project_path("members"))
    if options.json:
        return print_json(document)
    rows = [
        (row["email"], row["name"], row["role"], format_time(row["since"]))
        for row in document["rows"]
    ]
    print_table(("E-MAIL", "NAME", "ROLE", "SINCE"), rows)
    return 0


def add_invite(parser: ArgumentParser) -> None:
    parser.add_argument(
        "email", nargs="*", metavar="EMAIL", help="address; without any, one link is created"
    )
    parser.add_argument("--role", choices=_ROLES[:-1], required=True, help="role of the invited")


def invite(options: Namespace, connection: ServerConnection) -> int:
    body = {"emails": options.email, "role": options.role}
    document = connection.change("POST", connection.project_path("invitations"), body)
    if options.json:
        return print_json(document)
    for row in document["rows"]:
        print(f"{row['email'] or 'link'}: {row['link'] or 'invited by e-mail'}")
    return 0


def add_member(parser: ArgumentParser) -> None:
    parser.add_argument("email", metavar="EMAIL", help="address of the member")


def add_role(parser: ArgumentParser) -> None:
    add_member(parser)
    parser.add_argument("role", choices=_ROLES, help="new role")


def change_role(options: Namespace, connection: ServerConnection) -> int:
    path = _member_path(options, connection)
    document = connection.change("PATCH", path, {"role": options.role})
    if options.json:
        return print_json(document)
    print(f"{document['email']} is {document['role']} now.")
    return 0


def remove_member(options: Namespace, connection: ServerConnection) -> int:
    connection.change("DELETE", _member_path(options, connection))
    return print_done(options, f"Removed {options.email}.")


def _member_path(options: Namespace, connection: ServerConnection) -> str:
    rows = connection.get(connection.project_path("members"))["rows"]
    for row in rows:
        if row["email"].lower() == options.email.lower():
            return connection.project_path(f"members/{row['id']}")
    raise RequestFailed(f"{options.email} is not a member. `flamewatch members list` lists them.")


def add_audit(parser: ArgumentParser) -> None:
    parser.add_argument("--since", metavar="TIME", help="only entries since (RFC 3339)")
    parser.add_argument("--action", help="only entries of this action")
    parser.add_argument("--kind", help="only entries of this kind of actor")
    parser.add_argument("--text", help="only entries with this text in target, actor or address")
    parser.add_argument("--size", type=int, default=50, help="entries (default: %(default)s)")
    parser.add_argument("--csv", action="store_true", help="print CSV")


def print_audit(options: Namespace, connection: ServerConnection) -> int:
    rows = _read_audit(options, connection)
    if options.json:
        return print_json({"rows": rows})
    lines = [[str(row[name]) for name in _AUDIT_FIELDS] for row in rows]
    if options.csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(_AUDIT_FIELDS)
        writer.writerows([_escape_formula(text) for text in line] for line in lines)
        return 0
    table = [[format_time(line[0]), *line[2:3], *line[4:]] for line in lines]
    print_table(("TIME", "ACTOR", "ACTION", "TARGET", "ADDRESS", "RESULT"), table)
    return 0


def _read_audit(options: Namespace, connection: ServerConnection) -> list[dict[str, Any]]:
    given = vars(options)
    pairs = [(name, given[name]) for name in ("since", "action", "kind", "text") if given[name]]
    path = connection.project_path("audit")
    rows: list[dict[str, Any]] = []
    page: list[tuple[str, str]] = []
    while len(rows) < options.size:
        size = str(min(_AUDIT_PAGE, options.size - len(rows)))
        document = connection.get(path, [*pairs, ("size", size), *page])
        rows += document["rows"]
        if not document["next_page"]:
            break
        page = [("page", document["next_page"])]
    return rows


def _escape_formula(text: str) -> str:
    """Prefix what a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
